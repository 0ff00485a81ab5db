import { beforeAll, expect, it } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { bundle, type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const AT_ONCE = 5;
const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  input: z.object({ n: z.number() }),
  approval: true,
  run: () => 'asked',
});

let pool: Pool;
beforeAll(async () => {
  const agents = modes.map((dispatch) =>
    defineAgent({ name: `goals-${dispatch}`, model: 'goals', instructions: '', tools: ['ask'], dispatch }),
  );
  pool = await startPool({ models: { goals: goalModel().model }, tools: [ask], agents });
});

it.each(modes)('C4: what many answers at once leave behind is replayed to the same end, driven by %s', async (mode) => {
  const asked = Array.from({ length: AT_ONCE }, (_, n) => ['ask', { n }] as const);
  const histories = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const session = await pool.start(`goals-${mode}`, goalOf(calls(...asked)));
      const pauses = await until('it waits', async () => {
        const open = await session.pauses();
        return open.length === AT_ONCE && open;
      });
      const handle = pool.client.workflow.getHandle(session.id);
      const bad = handle.signal('answer', { pause: 'none', decision: 'none' });
      const good = pauses.map(({ pause }) => session.answer(pause, { decision: 'approve' }));
      const again = pauses.map(({ pause }) => session.answer(pause, { decision: 'reject' }).catch(() => undefined));
      await Promise.all([bad, ...good, ...again]).catch(() => undefined);
      expect(await session.output()).toBe('done');
      await handle.result();
      return { workflowId: session.id, history: await handle.fetchHistory() };
    }),
  );
  const options = { plugins: [new ApomeshPlugin({})], workflowBundle: await bundle() };
  for await (const { error } of Worker.runReplayHistories(options, histories)) expect(error).toBeUndefined();
});
