import { describe, expect, it } from '@jest/globals';
import { SessionLiveError, TemporalUnreachableError } from '../../../src/contract/errors.ts';
import type { Finding } from '../../../src/contract/recovery.ts';
import type { SessionInput } from '../../../src/contract/session.ts';
import type { Stores } from '../../../src/ports/store.ts';
import type { WorkflowState, Workflows } from '../../../src/ports/workflows.ts';
import { resumeByOperator } from '../../../src/recovery/resume.ts';
import { scan } from '../../../src/recovery/scan.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { adviceOn, isListed, recoveryClasses } from '../../../src/session/recovery.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, LogWriter, ROOT, ref, SESSION } from '../../support/logs.ts';
import { agentOf, sealedOf } from '../../support/sealing.ts';
import { writeLog } from '../../support/written.ts';

const { pin } = sealedOf(agentOf({ name: 'a' }));

/** What a workflow engine knows, and what it was asked to start. */
class Engine implements Workflows {
  readonly namespace = 'default';
  readonly known = new Map<string, WorkflowState>();
  readonly started: SessionInput[] = [];

  async describe(session: string): Promise<WorkflowState | null> {
    return this.known.get(session) ?? null;
  }

  async start(input: SessionInput): Promise<string> {
    if (this.known.get(input.session)?.isOpen) throw new SessionLiveError(input.session);
    this.started.push(input);
    this.known.set(input.session, state('RUNNING'));
    return 'run';
  }

  async terminate(session: string): Promise<boolean> {
    const isOpen = this.known.get(session)?.isOpen ?? false;
    this.known.set(session, state('TERMINATED'));
    return isOpen;
  }
}

const state = (status: string, failedTasks = 0): WorkflowState => ({
  status,
  isOpen: status === 'RUNNING',
  runId: 'run',
  failedTasks,
});

/** A log whose pin is in the store. */
const pinned = (writer: LogWriter): Envelope[] =>
  JSON.parse(JSON.stringify(writer.rows).replace(ref(0).digest, pin.ref.digest));

const plain = () => begun().add('AgentLifecycle', ROOT, { phase: 'running' });
const resumed = (writer: LogWriter, times: number, from = 0): LogWriter => {
  for (let resume = from + 1; resume <= from + times; resume++)
    writer.add('SessionResumed', null, { resume, cause: 'boot-scan', checkpoint: null, effects: 'reuse' });
  return writer;
};
const started = (writer: LogWriter) =>
  writer.add('ToolCallStarted', ROOT, { call: 'c', tool: 't', class: 'effect', key: 'k', args: ref(1).digest });
const snapshot = (writer: LogWriter) =>
  writer.add('AgentSnapshot', ROOT, { ordinal: 1, source: 'node', node: 1, ref: ref(2) });

interface Case {
  readonly log?: Envelope[];
  readonly workflow?: WorkflowState | null;
  readonly listed?: string;
  readonly now?: string;
}

async function ground({ log = pinned(plain()), workflow = null, listed }: Case) {
  const stores = memoryStores();
  const workflows = new Engine();
  await stores.keep([pin]);
  await writeLog(stores, log);
  if (workflow) workflows.known.set(SESSION, workflow);
  if (listed) await stores.list({ session: SESSION, class: listed, why: 'as before', at: '2026-11-30T10:00:00.000Z' });
  return { stores, workflows };
}

async function found(given: Case, stores?: (real: Stores) => Stores): Promise<Finding['class'] | undefined> {
  const { now = '2026-11-30T11:00:00.000Z' } = given;
  const made = await ground(given);
  const findings: Finding[] = [];
  await scan(
    { ...made, stores: stores?.(made.stores) ?? made.stores, now: () => Date.parse(now) },
    { heartbeatTimeoutMs: 1_000, onFound: (finding) => void findings.push(finding) },
  );
  const [listed] = await made.stores.allListed();
  const [one] = findings;
  const isLeft = one && !['completed', 'terminal', 'live', 'resume'].includes(one.class);
  expect(listed?.class).toBe(isLeft ? one.class : undefined);
  expect(made.workflows.started).toHaveLength(one?.class === 'resume' ? 1 : 0);
  return one?.class;
}

describe('a scan (R2)', () => {
  it.each<[string, string, Case]>([
    ['resume', 'of a workflow that Temporal has forgotten', {}],
    ['resume', 'of one that failed', { workflow: state('FAILED') }],
    ['resume', 'of one that timed out', { workflow: state('TIMED_OUT') }],
    ['terminal', 'at the end of its log', { log: pinned(begun().add('AgentLifecycle', ROOT, { phase: 'completed' })) }],
    ['live', 'with an open workflow', { workflow: state('RUNNING') }],
    ['live', 'whose task has failed twice', { workflow: state('RUNNING', 2) }],
    ['live', 'that was stuck before', { workflow: state('RUNNING'), listed: 'stuck' }],
    ['pin', 'that no worker has fitted so far', { workflow: state('RUNNING'), listed: 'pin' }],
    ['stuck', 'whose task keeps failing', { workflow: state('RUNNING', 3) }],
    ['live', 'that is being started', { log: pinned(new LogWriter().start()), now: '2026-11-30T10:00:30.000Z' }],
    ['resume', 'whose start broke off', { log: pinned(new LogWriter().start()), now: '2026-11-30T10:01:30.000Z' }],
    ['unreadable', 'whose log is shorter than Temporal knew', { workflow: state('COMPLETED') }],
    ['unreadable', 'with a log that contradicts itself', { log: pinned(new LogWriter().start().start()) }],
    ['closed', 'that was terminated', { workflow: state('TERMINATED') }],
    ['closed', 'that was cancelled in Temporal', { workflow: state('CANCELLED') }],
    ['closed', 'that was terminated before Temporal forgot it', { listed: 'closed' }],
    ['resume', 'that was listed for another reason before', { listed: 'side-effects' }],
    ['no-bootstrap', 'without SessionStarted', { log: new LogWriter().born(ROOT, null).rows }],
    ['side-effects', 'with an effect', { log: pinned(started(plain())) }],
    ['side-effects', 'with an effect, and no pin', { log: started(plain()).rows }],
    ['pin', 'without its pin', { log: plain().rows }],
    ['resume', 'resumed twice in vain', { log: pinned(resumed(plain(), 2)) }],
    ['failing', 'resumed three times in vain', { log: pinned(resumed(plain(), 3)) }],
    [
      'resume',
      'resumed four times, with a snapshot in between',
      { log: pinned(resumed(snapshot(resumed(plain(), 2)), 2, 2)) },
    ],
    [
      'failing',
      'resumed three times since its snapshot',
      { log: pinned(resumed(snapshot(resumed(plain(), 2)), 3, 2)) },
    ],
  ])('finds %s: one %s', async (expected, _, given) => {
    expect(await found(given)).toBe(expected);
  });

  it('reads no log of a session that has its completed record, and mends one that lacks it (F6)', async () => {
    const log = pinned(begun().add('AgentLifecycle', ROOT, { phase: 'failed', reason: 'x' }));
    const { stores, workflows } = await ground({ log });
    await scan({ stores, workflows }, { heartbeatTimeoutMs: 1_000 });
    const [entry] = await stores.sessions();
    expect(entry?.completed).toMatchObject({ phase: 'failed', reason: 'x', lastSeq: 2, at: log.at(-1)?.at });
    const read: Stores['read'] = () => Promise.reject(new Error('it was read'));
    await expect(scan({ stores: { ...stores, read }, workflows }, { heartbeatTimeoutMs: 1_000 })).resolves.toEqual({});
  });

  it("leaves another namespace's sessions alone (R1)", async () => {
    const log = JSON.parse(JSON.stringify(pinned(plain())).replace('"default"', '"other"'));
    expect(await found({ log })).toBeUndefined();
  });

  it('sees what is logged between its look at the log and at Temporal', async () => {
    const log = pinned(begun().add('AgentLifecycle', ROOT, { phase: 'completed' }));
    let reads = 0;
    const late = (real: Stores): Stores => ({
      ...real,
      read: async (session, from = 0, limit) => {
        reads += 1;
        return (await real.read(session, from, limit)).slice(0, reads === 1 ? -1 : undefined);
      },
    });
    expect(await found({ log, workflow: state('COMPLETED') }, late)).toBe('terminal');
  });

  it('is not held up by a session that cannot be started', async () => {
    const { stores, workflows } = await ground({});
    workflows.start = () => Promise.reject(new Error('no such task queue'));
    await expect(scan({ stores, workflows }, { heartbeatTimeoutMs: 1_000 })).resolves.toEqual({ failing: 1 });
    expect(await stores.allListed()).toMatchObject([
      { class: 'failing', why: expect.stringMatching(/no such task queue/) },
    ]);
    workflows.start = () => Promise.reject(new TemporalUnreachableError('somewhere'));
    await expect(scan({ stores, workflows }, { heartbeatTimeoutMs: 1_000 })).rejects.toThrow(/does not answer/);
  });

  it('that is a dry run starts, lists and mends nothing', async () => {
    const { stores, workflows } = await ground({ listed: 'stuck' });
    const options = { heartbeatTimeoutMs: 1_000, dryRun: true };
    await expect(scan({ stores, workflows }, options)).resolves.toEqual({ resume: 1 });
    expect(workflows.started).toEqual([]);
    expect(await stores.allListed()).toMatchObject([{ class: 'stuck' }]);
  });

  it('goes page by page, and takes what is over off the list', async () => {
    const { stores, workflows } = await ground({});
    for (let i = 0; i < 7; i++) {
      const session = `t-${i}`;
      await writeLog(
        stores,
        JSON.parse(JSON.stringify(started(plain()).rows).replaceAll(`"${SESSION}`, `"${session}`)),
      );
    }
    for (const session of ['s-0', 't-3', 'u-9'])
      await stores.list({ session, class: 'stuck', why: 'as before', at: '2026-11-30T10:00:00.000Z' });
    const counts = await scan({ stores, workflows }, { heartbeatTimeoutMs: 1_000, limit: 3 });
    expect(counts).toEqual({ resume: 1, 'side-effects': 7 });
    expect((await stores.allListed()).map((one) => `${one.session} ${one.class}`)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((i) => `t-${i} side-effects`),
    );
  });
});

describe('an operator', () => {
  const options = { effects: 'reuse', heartbeatTimeoutMs: 1_000 } as const;

  it.each<[string, Case]>([
    ['stuck', { workflow: state('RUNNING', 9) }],
    ['live and waits for a worker that fits', { workflow: state('RUNNING'), listed: 'pin' }],
  ])('takes over what is %s only on purpose (R4)', async (_, given) => {
    const { stores, workflows } = await ground(given);
    const resume = (takeover: boolean) => resumeByOperator({ stores, workflows }, SESSION, { ...options, takeover });
    await expect(resume(false)).rejects.toMatchObject({
      code: 'SESSION_LIVE',
      message: expect.stringMatching(/--takeover/),
    });
    await expect(resume(true)).resolves.toMatchObject({ resume: 1 });
    expect(await stores.allListed()).toEqual([]);
    expect(workflows.started).toMatchObject([{ session: SESSION, resume: 1, resuming: { cause: 'operator' } }]);
  });

  it.each([
    [false, /nothing is to be taken up/],
    [true, /sound, so nothing is to be taken over/],
  ])('is told that a sound session goes on, and of no other id (R5; takeover: %s)', async (takeover, why) => {
    const { stores, workflows } = await ground({ workflow: state('RUNNING') });
    const refused = await resumeByOperator({ stores, workflows }, SESSION, { ...options, takeover }).catch((e) => e);
    expect(refused).toMatchObject({ code: 'SESSION_LIVE', message: expect.stringMatching(why) });
    expect(refused.message).toContain(`apomesh tail ${SESSION}`);
    expect(refused.message).not.toContain('another id');
    expect((await workflows.describe(SESSION))?.isOpen).toBe(true);
  });

  it.each(recoveryClasses.filter(isListed))('is told what to do about a session listed as %s', (found) => {
    const advice = adviceOn(found, SESSION);
    expect(advice.includes(`apomesh resume ${SESSION}`)).toBe(found !== 'unreadable' && found !== 'no-bootstrap');
    expect(advice.includes('--takeover')).toBe(found === 'stuck' || found === 'pin');
  });

  it('resumes what a scan leaves: closed, with side effects, failing', async () => {
    for (const given of [
      { workflow: state('TERMINATED') },
      { listed: 'closed' },
      { log: pinned(started(plain())) },
      { log: pinned(resumed(plain(), 3)) },
    ]) {
      const { stores, workflows } = await ground(given);
      await resumeByOperator({ stores, workflows }, SESSION, options);
      expect(workflows.started).toHaveLength(1);
      expect(await stores.allListed()).toEqual([]);
    }
  });

  it('is told which namespace a session is of', async () => {
    const log = JSON.parse(JSON.stringify(pinned(plain())).replace('"default"', '"other"'));
    await expect(resumeByOperator(await ground({ log }), SESSION, options)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/--namespace other/),
    });
  });
});
