import { describe, expect, it } from '@jest/globals';
import { LogUnreadableError, TemporalUnreachableError } from '../../../src/contract/errors.ts';
import type { Finding } from '../../../src/contract/recovery.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { scan } from '../../../src/recovery/scan.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { begun, LogWriter, ROOT, SESSION } from '../../support/logs.ts';
import { type Case, ground, pinned, plain, resumed, snapshot, started, state } from '../../support/lost-session.ts';
import { writeLog } from '../../support/written.ts';

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
    ['pin', 'that no worker has fitted so far', { workflow: state('RUNNING'), listed: 'pin', by: 'worker' }],
    ['live', 'that a scan listed before it was resumed', { workflow: state('RUNNING'), listed: 'pin' }],
    [
      'resume',
      'that is stamped by a clock far ahead',
      { log: pinned(new LogWriter().start()), now: '2020-01-01T00:00:00.000Z' },
    ],
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
        return (await real.read(session, from, limit)).slice(0, reads === 2 ? -1 : undefined);
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

  it('remembers what a person closed, also while it is listed for something else', async () => {
    const { stores, workflows } = await ground({ listed: 'closed' });
    const options = { heartbeatTimeoutMs: 1_000 };
    const read: Stores['read'] = () => Promise.reject(new LogUnreadableError(SESSION, 0, 'the row is missing'));
    await expect(scan({ stores: { ...stores, read }, workflows }, options)).resolves.toEqual({ unreadable: 1 });
    expect(await stores.allListed()).toMatchObject([{ class: 'unreadable', closed: 'as before' }]);
    await expect(scan({ stores, workflows }, options)).resolves.toEqual({ closed: 1 });
    expect(workflows.started).toEqual([]);
  });

  it('is not held up by a session that cannot be looked at, and reads no more of a foreign one than its first event', async () => {
    const { stores, workflows } = await ground({});
    const foreign = JSON.parse(
      JSON.stringify(pinned(plain())).replace('"default"', '"other"').replaceAll(`"${SESSION}`, '"far'),
    );
    await writeLog(stores, foreign);
    const rows: string[] = [];
    const read: Stores['read'] = async (session, from, limit) => {
      if (session === SESSION) throw new RangeError('too much of it');
      const found = await stores.read(session, from, limit);
      rows.push(...found.map((event) => event.id));
      return found;
    };
    await expect(scan({ stores: { ...stores, read }, workflows }, { heartbeatTimeoutMs: 1_000 })).resolves.toEqual({
      unreadable: 1,
    });
    expect(rows).toHaveLength(1);
  });

  it('sees a log of any length', async () => {
    const { stores, workflows } = await ground({ workflow: state('RUNNING') });
    const long = pinned(plain());
    const last = long.at(-1);
    const read: Stores['read'] = async (_, from = 0, limit = 300_000) =>
      Array.from({ length: 300_000 }, (__, seq) => long[seq] ?? ({ ...last, seq, id: `e${seq}` } as Envelope)).slice(
        from,
        from + limit,
      );
    await expect(scan({ stores: { ...stores, read }, workflows }, { heartbeatTimeoutMs: 1_000 })).resolves.toEqual({
      live: 1,
    });
  });

  it('keeps the list where pages end between ids that JavaScript sorts otherwise than a database', async () => {
    const { stores, workflows } = await ground({});
    const ids = ['\uff5ehome', '\u{1f600}-smile'];
    for (const id of ids) {
      await writeLog(stores, JSON.parse(JSON.stringify(pinned(plain())).replaceAll(`"${SESSION}`, `"${id}`)));
      await stores.list({ session: id, class: 'closed', why: 'as before', at: '2026-11-30T10:00:00.000Z' });
    }
    await expect(scan({ stores, workflows }, { heartbeatTimeoutMs: 1_000, limit: 2 })).resolves.toEqual({
      closed: 2,
      resume: 1,
    });
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
