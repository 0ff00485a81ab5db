import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { Temporal } from '../../src/client/temporal.ts';
import { SessionLiveError } from '../../src/contract/errors.ts';
import type { Finding } from '../../src/contract/recovery.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { Workflows } from '../../src/ports/workflows.ts';
import { examine, type Ground } from '../../src/recovery/classify.ts';
import { resumeByOperator, startResume } from '../../src/recovery/resume.ts';
import { scan } from '../../src/recovery/scan.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { tailed } from '../support/doer.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

/** Each of so many sessions is lost so many times. */
const SESSIONS = 25;
const ROUNDS = 8;

const LONGEST_MS = 150_000;

const heartbeatTimeoutMs = 2_000;
const resumed = (log: readonly Envelope[]) =>
  log.flatMap(({ type, data }) => (type === 'SessionResumed' ? [data] : []));

/** Who asks a person before each step, and touches nothing: a scan may take it up, any number of times. */
async function open(): Promise<Pool & { ground: Ground; lose: (session: SessionHandle) => Promise<void> }> {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    approval: true,
    input: z.object({ step: z.int() }),
    run: ({ step }) => step,
  });
  const agents = (['loop', 'call'] as const).map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: ['look'], dispatch }),
  );
  const stores = memoryStores();
  const pool = await startPool({ models: { goals: goalModel().model }, tools: [look], agents }, { stores });
  const temporal = new Temporal(pool.client);
  // A workflow that is terminated is lost at once, where waiting for its time-out would take seconds; all else is Temporal's word.
  const workflows: Workflows = {
    namespace: temporal.namespace,
    describe: async (session) => {
      const found = await temporal.describe(session);
      return found?.status === 'TERMINATED' ? { ...found, status: 'TIMED_OUT' } : found;
    },
    start: (input, taskQueue) => temporal.start(input, taskQueue),
    terminate: (session, runId, reason) => temporal.terminate(session, runId, reason),
  };
  const lose = async ({ id }: SessionHandle) => {
    await pool.client.workflow.getHandle(id).terminate('lost');
  };
  return Object.assign(pool, { ground: { stores, workflows }, lose });
}

const startSteps = (pool: Pool, agent: string, steps: number): Promise<SessionHandle> =>
  pool.start(agent, goalOf(...Array.from({ length: steps }, (_, step) => calls(['look', { step }]))));

/** The pause that a session waits at, another than the last one. */
const nextPause = (session: SessionHandle, last: string | undefined): Promise<string> =>
  until('it waits', async () => {
    const { root, agents, pauses } = await session.view();
    const [pause] = root !== null && agents[root]?.phase === 'waiting' ? pauses : [];
    return pause?.pause !== last && pause?.pause;
  });

async function scanned(ground: Ground): Promise<Map<string, Finding>> {
  const found = new Map<string, Finding>();
  const onFound = (finding: Finding) => void found.set(finding.session, finding);
  await scan(ground, { heartbeatTimeoutMs, onFound });
  return found;
}

/** Whether an operator's resume won; the loser is told that the session is live. */
const resumeBy = (ground: Ground, session: string): Promise<boolean> =>
  resumeByOperator(ground, session, { effects: 'reuse', heartbeatTimeoutMs }).then(
    () => true,
    (error: unknown) => {
      expect(error).toBeInstanceOf(SessionLiveError);
      return false;
    },
  );

/** That of each resume no more than one run of Temporal drove the root. */
async function expectOneRunEach({ stores }: Ground, { id }: SessionHandle): Promise<void> {
  const runs = new Map<number, Set<string | undefined>>();
  for (const { resume, claimant } of await stores.claims(id, `${id}/root-1`))
    runs.set(resume, (runs.get(resume) ?? new Set()).add(claimant.split('/')[0]));
  expect([...runs].filter(([, of]) => of.size > 1)).toEqual([]);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

describe('a lost session', () => {
  it(
    `is resumed ${SESSIONS * ROUNDS} times by two scans and an operator at once: one wins each time (R5)`,
    async () => {
      const pool = await open();
      const { ground } = pool;
      const sessions = await Promise.all(
        upTo(SESSIONS).map((i) => startSteps(pool, i % 2 === 0 ? 'loop' : 'call', ROUNDS)),
      );
      const last = new Map<SessionHandle, string>();
      const won = { scan: 0, operator: 0 };
      for (const round of upTo(ROUNDS)) {
        await Promise.all(
          sessions.map(async (session) => last.set(session, await nextPause(session, last.get(session)))),
        );
        await Promise.all(sessions.map(pool.lose));
        const [first, second, ...operators] = await Promise.all([
          scanned(ground),
          scanned(ground),
          ...sessions.map(({ id }) => resumeBy(ground, id)),
        ]);
        for (const [i, { id }] of sessions.entries()) {
          const byScans = [first, second].map((found) => found.get(id)?.class);
          expect(byScans.filter((found) => found !== 'resume' && found !== 'live')).toEqual([]);
          const winners = [...byScans.filter((found) => found === 'resume'), ...(operators[i] ? ['operator'] : [])];
          expect({ round, id, winners }).toEqual({ round, id, winners: [expect.any(String)] });
          won[operators[i] ? 'operator' : 'scan'] += 1;
        }
        await Promise.all([...last].map(([session, pause]) => session.answer(pause, { decision: 'approve' })));
      }
      for (const session of sessions) {
        expect(resumed(await tailed(session)).map(({ resume }) => resume)).toEqual(upTo(ROUNDS));
        expect(await session.verify()).toMatchObject({ ok: true });
        await expectOneRunEach(ground, session);
      }
      process.stderr.write(`resumed ${won.scan} times by a scan, ${won.operator} times by the operator\n`);
    },
    LONGEST_MS,
  );

  it.each(['loop', 'call'])(
    'is not resumed again by who looked before another resume that is over (R5, %s)',
    async (mode) => {
      const pool = await open();
      const { ground } = pool;
      const session = await startSteps(pool, mode, 1);
      const pause = await nextPause(session, undefined);
      await pool.lose(session);
      const before = await examine(ground, session.id);
      if (before === null) throw new Error('there is no such session');
      const options = { cause: 'boot-scan', effects: 'reuse', heartbeatTimeoutMs } as const;
      await startResume(ground, before, options);
      await until('it is resumed', async () => (await session.view()).resumes === 1);
      await pool.lose(session);
      // Temporal lets a run follow one that is over.
      await startResume(ground, before, options);
      const workflow = pool.client.workflow.getHandle(session.id);
      await until('the one that came too late ends', async () => (await workflow.describe()).status.name === 'FAILED');
      expect((await session.view()).resumes).toBe(1);
      expect((await scanned(ground)).get(session.id)).toMatchObject({ class: 'resume' });
      await until('it is resumed again', async () => (await session.view()).resumes === 2);
      await session.answer(pause, { decision: 'approve' });
      expect(resumed(await tailed(session)).map(({ resume }) => resume)).toEqual([1, 2]);
      await expectOneRunEach(ground, session);
    },
  );
});
