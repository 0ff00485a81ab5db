import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionHandle } from 'apomesh';

/**
 * Prints what the session came to: effects counted on its log, and by their traces in the world, for a ledger line carries
 * the key of the call that wrote it.
 *
 * @returns whether all is whole, and nothing happened twice.
 */
export async function printOutcome(session: SessionHandle, workdir: string): Promise<boolean> {
  const { effects, problems } = await session.verify();
  const ledger = (await readFile(join(workdir, 'ledger.jsonl'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const written = new Set(ledger.map((line) => (JSON.parse(line) as { key: string }).key));
  const duplicates = effects.duplicates + ledger.length - written.size;
  const tickets = (await readdir(join(workdir, 'tickets')).catch(() => [])).length;
  console.log(`\nResult    ${JSON.stringify(await session.output())}`);
  console.log(`Effects   ${effects.intents} intents, ${effects.outcomes} outcomes, ${duplicates} duplicates`);
  console.log(`Verify    ${problems.length === 0 ? 'the log and every body are whole' : JSON.stringify(problems)}`);
  console.log(`Files     ${workdir} (summary.md, ${tickets} tickets, ${ledger.length} lines in ledger.jsonl)`);
  return problems.length === 0 && duplicates === 0 && effects.open === 0;
}
