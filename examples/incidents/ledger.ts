import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from 'apomesh';
import { z } from 'zod';
import { workdir } from './workdir.ts';

interface Entry {
  readonly key: string;
  readonly incident: string;
}

/** Milliseconds that an entry takes: half before it is written, half after. */
const delayMs = Number(process.env['APOMESH_LEDGER_DELAY_MS'] ?? 0);

const file = join(workdir, 'ledger.jsonl');

async function entries(): Promise<Entry[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
}

/**
 * Appends to a ledger. Running it twice would enter an incident twice, so it is an effect, and not an idempotent one. But
 * each line carries the call's key, so a call in doubt can be looked up.
 */
export const appendLedger = defineTool({
  name: 'append_ledger',
  description:
    'Enters an incident into the ledger, for good: one line for each distinct incident. Call it once for an incident, ' +
    'after its ticket file has been written.',
  effect: 'effect',
  timeout: '4 seconds',
  input: z.object({
    incident: z.string().min(1).describe('The id of the incident, as in the name of its ticket file.'),
    service: z.string().min(1),
    severity: z.enum(['SEV1', 'SEV2', 'SEV3', 'SEV4']),
    ticket: z.string().min(1).describe('Path of the ticket file.'),
  }),
  async reconcile(_args, { key }) {
    const entry = (await entries()).find((line) => line.key === key);
    return entry ? { happened: true, result: { entered: entry.incident } } : { happened: false };
  },
  async run(args, { key, signal }) {
    await sleep(delayMs / 2, undefined, { signal });
    const ledger = await open(file, 'a');
    try {
      await ledger.appendFile(`${JSON.stringify({ key, at: new Date().toISOString(), ...args })}\n`);
      await ledger.sync();
    } finally {
      await ledger.close();
    }
    await sleep(delayMs / 2);
    return { entered: args.incident };
  },
});
