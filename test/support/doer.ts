import { z } from 'zod';
import { defineTool } from '../../src/agent/tool.ts';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import { openMongo, type Pool, startPool } from './pool.ts';
import { goalModel } from './script.ts';
import { until } from './until.ts';

const { model } = goalModel();
const note = defineTool({
  name: 'note',
  description: 'Notes.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
});
const ask = defineTool({ ...note, name: 'ask', approval: true });

export const instructions = 'Do as the goal says.';

/** The agent `doer@1.2.0` does what its goal says: `note` runs, `ask` needs an approval. */
export const config: ApomeshConfig = {
  models: { goal: model },
  tools: [note, ask],
  agents: [{ name: 'doer', version: '1.2.0', model: 'goal', instructions, tools: ['note', 'ask'] }],
};

let pool: Promise<Pool> | null = null;

/** A worker with {@link config}, the same for a whole test file. */
export function doerPool(): Promise<Pool> {
  pool ??= startPool(config, { stores: openMongo() });
  return pool;
}

/** All that a session logs, to its end. */
export async function tailed(session: SessionHandle, from = 0): Promise<Envelope[]> {
  const found: Envelope[] = [];
  for await (const envelope of session.tail({ from })) found.push(envelope);
  return found;
}

/** The id of a session's first open pause, once it has one. */
export const pauseOf = (session: SessionHandle): Promise<string> =>
  until('it waits', async () => (await session.pauses())[0]?.pause);
