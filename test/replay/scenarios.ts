import type { SessionHandle } from '../../src/client/handle.ts';
import { RECOVERY_ID } from '../../src/contract/recovery.ts';
import { calls, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';
import type { Stage } from './stage.ts';

/** The workflow whose history is to be kept. */
type Scenario = (stage: Stage, mode: string) => Promise<string>;

/** What begins on a worker that is lost in the middle of it. */
export interface LostScenario {
  readonly tool: string;
  readonly end: (session: SessionHandle) => Promise<void>;
}

const openPause = (session: SessionHandle): Promise<string> =>
  until('it waits', async () => (await session.pauses())[0]?.pause);

/** To the end, whatever that is; and that of its workflow. */
async function ended({ client }: Stage, session: SessionHandle): Promise<string> {
  await session.output().catch(() => undefined);
  await client.workflow
    .getHandle(session.id)
    .result()
    .catch(() => undefined);
  return session.id;
}

export const lostScenarios: Readonly<Record<string, LostScenario>> = {
  lost: { tool: 'idem', end: async () => undefined },
  'in-doubt': {
    tool: 'ask',
    end: async (session) =>
      session.answer(await openPause(session), { decision: 'happened', result: 1 }).then(() => undefined),
  },
};

export const scenarios: Readonly<Record<string, Scenario>> = {
  plain: async (stage, mode) => {
    const goal = goalOf(
      calls(['look', { id: 'a' }]),
      calls(['ask', { id: 'b' }], ['ask', { id: 'c' }]),
      calls(['none']),
    );
    return ended(stage, await stage.start(`goals-${mode}`, goal));
  },

  failed: async (stage, mode) => ended(stage, await stage.start(`goals-${mode}`, 'no goal that the model knows')),

  elsewhere: async (stage, mode) =>
    ended(stage, await stage.start(`far-${mode}`, goalOf(calls(['far'], ['look', { id: 'a' }]), calls(['far'])))),

  approvals: async (stage, mode) => {
    const asked = ['a', 'b', 'c'].map((id) => ['permit', { id }] as const);
    const session = await stage.start(`goals-${mode}`, goalOf(calls(...asked)));
    const pauses = await until('it waits', async () => {
      const open = await session.pauses();
      return open.length === asked.length && open.map(({ pause }) => pause);
    });
    const handle = stage.client.workflow.getHandle(session.id);
    await handle.signal('answer', { pause: 'none', decision: 'none' });
    await handle.signal('answer', { pause: pauses[0], decision: 'approve' });
    await session.answer(pauses[1] ?? '', { decision: 'edit', args: { id: 'b' } });
    await session.answer(pauses[2] ?? '', { decision: 'reject', reason: 'no' });
    return ended(stage, session);
  },

  cancelled: async (stage, mode) => {
    const session = await stage.start(`goals-${mode}`, goalOf(calls(['heed', { id: `${mode}-held` }])));
    await until('it runs', () => stage.deeds.begun(`${mode}-held`).length > 0);
    await session.cancel('enough');
    return ended(stage, session);
  },

  'cancelled-waiting': async (stage, mode) => {
    const session = await stage.start(`goals-${mode}`, goalOf(calls(['permit', { id: 'a' }])));
    await openPause(session);
    await stage.client.workflow.getHandle(session.id).cancel();
    return ended(stage, session);
  },

  deadline: async (stage, mode) =>
    ended(stage, await stage.start(`hasty-${mode}`, goalOf(calls(['permit', { id: 'a' }])))),

  continued: async (stage, mode) => {
    const steps = Array.from({ length: 9 }, () => calls(['look', { id: 'a' }]));
    const session = await stage.start(`goals-${mode}`, goalOf(...steps, calls(['permit', { id: 'a' }])));
    await session.answer(await openPause(session), { decision: 'approve' });
    return ended(stage, session);
  },

  resumed: async (stage, mode) => {
    const session = await stage.start(
      `goals-${mode}`,
      goalOf(calls(['ask', { id: 'a' }]), calls(['permit', { id: 'b' }])),
    );
    const pause = await openPause(session);
    await stage.client.workflow.getHandle(session.id).terminate();
    await stage.apomesh.recovery.resume(session.id);
    await session.answer(pause, { decision: 'approve' });
    return ended(stage, session);
  },
};

/** The boot scan that a worker asks for when it starts. */
export async function bootScan({ client }: Stage): Promise<string> {
  await client.workflow.getHandle(RECOVERY_ID).result();
  return RECOVERY_ID;
}
