import { describe, expect, it } from '@jest/globals';
import { resumeByOperator } from '../../../src/recovery/resume.ts';
import { adviceOn, isListed, recoveryClasses } from '../../../src/session/recovery.ts';
import { SESSION } from '../../support/logs.ts';
import { type Case, ground, pinned, plain, resumed, started, state } from '../../support/lost-session.ts';

describe('an operator', () => {
  const options = { effects: 'reuse', heartbeatTimeoutMs: 1_000 } as const;

  it.each<[string, Case]>([
    ['stuck', { workflow: state('RUNNING', 9) }],
    ['live and waits for a worker that fits', { workflow: state('RUNNING'), listed: 'pin', by: 'worker' }],
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
