import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../../contract/errors.ts';
import type { Bundles, Exported } from '../../plugin/bundles.ts';
import { millisOf } from '../../plugin/schema-parts.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export interface GcCommand extends Common {
  readonly dryRun?: boolean;
  readonly olderThan?: string;
}

/** @param words names of what is to be exported, and last the file; `-` is standard output. */
export const exportPins = (words: readonly string[], options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { bundles }) => {
    const file = words.at(-1);
    if (file === undefined) throw new UsageError('name the file to write.', { field: 'file' });
    if (file.startsWith('sha256:')) throw new UsageError('name the file to write, after the pins.', { field: 'file' });
    const lines = bundles.export(words.slice(0, -1));
    if (file === '-') {
      for await (const each of lines) await line(each.trimEnd());
      return 0;
    }
    const exported = await writeWhole(file, lines);
    if (options.json) await jsonLine({ file, ...exported });
    else await line(`wrote ${summaryOf(exported)} to ${file}`);
    return 0;
  });

const summaryOf = ({ pins, files, published }: Exported): string =>
  `${pins} pins, ${files} files, ${published} published versions`;

/** Writes a file that is there whole or not at all. Gives what the lines return. */
async function writeWhole<T>(file: string, lines: AsyncGenerator<string, T, undefined>): Promise<T> {
  const part = `${file}.${process.pid}.part`;
  const there = await stat(file).catch(() => null);
  if (there !== null && !there.isFile()) throw unwritable(file, 'it is no file');
  const opened = await open(part, 'w').catch((error: Error) => {
    throw unwritable(file, error.message);
  });
  let returned: { readonly value: T } | undefined;
  const written = async function* (): AsyncGenerator<string> {
    returned = { value: yield* lines };
  };
  try {
    await pipeline(written, opened.createWriteStream({ flush: true }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return (returned as { readonly value: T }).value;
}

const unwritable = (file: string, why: string): UsageError =>
  new UsageError(`the file ${file} cannot be written: ${why}; name another.`, { file });

export const importPins = (file: string, options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { bundles }) => {
    const imported = await bundles.import(piecesOf(file), file);
    if (options.json) await jsonLine(imported);
    else await line(summaryOf(imported));
    return 0;
  });

async function* piecesOf(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const piece of createReadStream(file)) yield piece;
  } catch (error) {
    throw new UsageError(`the file ${file} cannot be read: ${(error as Error).message}.`, { file });
  }
}

export const sweepPins = (options: GcCommand): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { bundles }) => {
    const { dryRun = false, olderThan } = options;
    const swept = await bundles.gc({ dryRun, ...(olderThan !== undefined && { minAgeMs: ageOf(olderThan) }) });
    if (options.json) {
      await jsonLine({ dryRun, ...swept });
      return 0;
    }
    for (const [what, entries] of Object.entries({ pin: swept.pins, file: swept.files })) {
      for (const { digest, bytes, at } of entries) await line(`${what} ${digest} ${bytes} bytes ${at}`.trim());
    }
    await line(sweptOf(swept, dryRun));
    return 0;
  });

type Swept = Awaited<ReturnType<Bundles['gc']>>;

function sweptOf({ pins, files, kept }: Swept, dryRun: boolean): string {
  const bytes = [...pins, ...files].reduce((sum, entry) => sum + entry.bytes, 0);
  const gone = `${pins.length} pins and ${files.length} files, ${bytes} bytes`;
  const stay = `${kept.pins} pins and ${kept.files} files stay`;
  return dryRun ? `would delete ${gone}; ${stay}` : `deleted ${gone}; ${stay}`;
}

function ageOf(text: string): number {
  const millis = millisOf(text);
  if (Number.isFinite(millis) && millis >= 0) return millis;
  throw new UsageError(`--older-than is no duration: ${JSON.stringify(text)}; write '2 days'.`, {
    option: '--older-than',
  });
}
