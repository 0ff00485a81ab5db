import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { TextDecoder } from 'node:util';
import { LogUnreadableError } from '../../session/error.ts';
import { fold } from '../../session/fold.ts';
import { readLog } from '../../session/ndjson.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

const NEW_LINE = 0x0a;

export async function foldFile(file: string | undefined, { json }: Common): Promise<number> {
  const view = fold(readLog(decoded(await bytesOf(file))));
  if (view.lastSeq < 0) throw new LogUnreadableError(null, 0, 'there is no envelope');
  await (json ? jsonLine(view) : line(JSON.stringify(view, null, 2)));
  return 0;
}

async function bytesOf(file: string | undefined): Promise<Buffer> {
  if (file === undefined || file === '-') return buffer(process.stdin);
  return readFile(file).catch(async (error: Error) => {
    const { UsageError } = await import('../../contract/errors.ts');
    throw new UsageError(`the file ${file} cannot be read: ${error.message}.`, { file });
  });
}

/** Bytes that are not UTF-8 must not be taken for others. */
function decoded(bytes: Buffer): string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    throw new LogUnreadableError(null, firstBadLine(bytes, decoder), 'the line is not UTF-8');
  }
}

/** How many lines with something on them stand before the first that cannot be decoded: its seq. */
function firstBadLine(bytes: Buffer, decoder: TextDecoder): number {
  let seq = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEW_LINE, start);
    const row = bytes.subarray(start, end < 0 ? bytes.length : end);
    try {
      if (decoder.decode(row).trim() !== '') seq += 1;
    } catch {
      return seq;
    }
    start = end < 0 ? bytes.length : end + 1;
  }
  return seq;
}
