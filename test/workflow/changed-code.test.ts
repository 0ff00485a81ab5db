import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { pauseOf } from '../support/doer.ts';
import { type bundle, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;

/** Effects by session. */
const ran = new Map<string, number>();
const note = defineTool({
  name: 'note',
  description: 'Notes.',
  input: z.object({}),
  run: (_, { session }) => ran.set(session, (ran.get(session) ?? 0) + 1).get(session),
});
const ask = defineTool({ ...note, name: 'ask', approval: true });
const config = {
  models: { goals: goalModel().model },
  tools: [note, ask],
  agents: modes.map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: ['note', 'ask'], dispatch }),
  ),
};

let changed: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../replay/changed-workflows.ts', import.meta.url));
  changed = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
});

describe.each(modes)('a session driven by %s, on a worker with other workflow code', (mode) => {
  it('R2, R4: is stuck, and listed; an operator takes it over, and nothing of it is done again', async () => {
    const before = await startPool(config, { stores: memoryStores(), workflowTaskMs: 1_000 });
    const session = await before.start(mode, goalOf(calls(['note']), calls(['ask'])));
    const pause = await pauseOf(session);
    await before.stop();
    const { stores, taskQueue } = before;
    const after = await startPool(config, { stores, taskQueue, worker: { workflowBundle: changed } });
    const { recovery, sessions } = after.apomesh;
    const handle = after.client.workflow.getHandle(session.id);
    await handle.signal('answer', { pause: 'none', decision: 'none' });
    const found = await until('it counts as stuck', async () => {
      const [finding] = await recovery.scan();
      return finding?.class === 'stuck' && finding;
    });
    expect(found.session).toBe(session.id);
    expect(await recovery.list()).toMatchObject([{ session: session.id, class: 'stuck' }]);
    await expect(recovery.resume(session.id)).rejects.toMatchObject({ code: 'SESSION_LIVE' });
    const answer = sessions.get(session.id).answer(pause, { decision: 'approve' });
    await expect(answer).rejects.toMatchObject({
      code: 'NO_WORKER',
      message: expect.stringContaining('keeps failing'),
      fields: { queued: false, instead: expect.stringContaining(`workflow signal --workflow-id ${session.id}`) },
    });
    expect(await recovery.resume(session.id, { takeover: true })).toMatchObject({ resume: 1, logged: true });
    const resumed = sessions.get(session.id);
    await resumed.answer(pause, { decision: 'approve' });
    expect(await resumed.output()).toBe('done');
    expect(ran.get(session.id)).toBe(2);
    expect(await recovery.list()).toEqual([]);
    expect(await resumed.view()).toMatchObject({ resumes: 1, terminal: true });
    expect((await resumed.verify()).problems).toEqual([]);
  });
});
