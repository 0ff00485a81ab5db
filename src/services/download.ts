import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { isRunnable, run } from './commands.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;

/**
 * Asks a server for a page's head, to learn fast whether it can be reached at all.
 *
 * @throws after 5 seconds at the latest.
 */
export async function assertReachable(url: string): Promise<void> {
  await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
}

/**
 * Downloads a tar archive and takes one program out of it; the file is either there whole or not at all. A file that is
 * there already is kept.
 *
 * @throws when the server does not answer within 5 seconds, or the whole takes longer than 5 minutes.
 */
export async function downloadProgram(url: string, program: string, file: string): Promise<string> {
  if (await isRunnable(file)) return file;
  await assertReachable(url);
  const folder = join(dirname(file), `.download-${randomUUID()}`);
  await mkdir(folder, { recursive: true });
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok || response.body === null) throw new Error(`${url} answers ${response.status}`);
    const archive = join(folder, 'archive');
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(archive));
    await run('tar', ['-xf', archive, '-C', folder, program], DOWNLOAD_TIMEOUT_MS);
    await rename(join(folder, program), file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return file;
}
