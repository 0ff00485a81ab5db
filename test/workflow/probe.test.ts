import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool, scriptedModel } from '../../src/index.ts';
import { historyOf } from '../support/history.ts';
import { startPool } from '../support/pool.ts';

it('works', async () => {
  const t0 = performance.now();
  const pool = await startPool({
    models: { m: scriptedModel((_p, { node }) => (node < 5 ? { calls: [{ tool: 'note', args: { text: 'x' } }] } : { text: 'done' })) },
    tools: [defineTool({ name: 'note', description: 'n', input: z.object({ text: z.string() }), run: () => 'ok' })],
    agents: [defineAgent({ name: 'a', model: 'm', instructions: 'i', tools: ['note'] }), defineAgent({ name: 'b', dispatch: 'call', model: 'm', instructions: 'i', tools: ['note'] })],
  });
  console.log('pool', performance.now() - t0);
  for (const agent of ['a', 'b', 'a', 'b']) {
    const t1 = performance.now();
    const s = await pool.start(agent);
    expect(await s.output()).toBe('done');
    console.log(agent, performance.now() - t1, await historyOf(pool.client, s.id).then(({ text, ...r }) => [r, text.length]));
  }
});
