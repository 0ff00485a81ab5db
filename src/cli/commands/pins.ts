import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../../contract/errors.ts';
import type { Bundles } from '../../plugin/bundles.ts';
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
    const names = words.slice(0, -1);
    if (file === '-') {
      for await (const each of bundles.export(names)) await line(each);
      return 0;
    }
    const lines = await writeLines(file, bundles.export(names));
    if (options.json) await jsonLine({ file, lines });
    else await line(`wrote ${lines} lines to ${file}`);
    return 0;
  });

/** Writes a file that is there whole or not at all. Gives how many lines it has. */
async function writeLines(file: string, lines: AsyncIterable<string>): Promise<number> {
  const part = `${file}.part`;
  let count = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const each of lines) {
      count += 1;
      yield `${each}\n`;
    }
  };
  try {
    await pipeline(counted, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return count;
}

export const importPins = (file: string, options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { bundles }) => {
    const imported = await bundles.import(await textOf(file), file);
    if (options.json) await jsonLine(imported);
    else await line(`${imported.pins} pins, ${imported.files} files, ${imported.published} published versions`);
    return 0;
  });

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
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
    await line(summaryOf(swept, dryRun));
    return 0;
  });

type Swept = Awaited<ReturnType<Bundles['gc']>>;

function summaryOf({ pins, files, kept }: Swept, dryRun: boolean): string {
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
