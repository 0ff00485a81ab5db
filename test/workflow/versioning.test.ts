import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import type { SessionHandle } from '../../src/client/handle.ts';
import { RECOVERY_ID } from '../../src/contract/recovery.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import { startTemporal, type TemporalService } from '../../src/services/temporal.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { pauseOf } from '../support/doer.ts';
import { closePools, type Pool, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { temporalCli } from '../support/temporal-cli.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const NAME = 'clerks';
/** As Temporal's API numbers it. */
const AUTO_UPGRADE = 2;
const taskQueue = unique('versions');
const stores = memoryStores();
const { model } = goalModel();

/** Where the calls of a session ran, in order. */
const ran = new Map<string, string[]>();

/** A worker of one build, on the queue of all. */
const build = (buildId: string): Promise<Pool> => {
  const input = z.object({ n: z.number() });
  const run = (_: object, { session }: { session: string }) => {
    ran.set(session, [...(ran.get(session) ?? []), buildId]);
    return 'here';
  };
  const tools = [
    defineTool({ name: 'where', description: 'Says where.', input, effect: 'read', run }),
    defineTool({ name: 'ask', description: 'Asks.', input, approval: true, run }),
  ];
  const agents = modes.map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: ['where', 'ask'], dispatch }),
  );
  const config = {
    models: { goals: model },
    tools,
    agents,
    limits: { sliceNodes: 1 },
    recovery: { every: '1s' },
  } as const;
  const deployment = { name: NAME, buildId };
  return startPool({ ...config, deployment }, { stores, taskQueue, address: temporal.address });
};

let dataDir = '';
let temporal: TemporalService;
let one: Pool;

const cli = (...args: readonly string[]) => temporalCli(...args, '--address', temporal.address);

const makeCurrent = (buildId: string) =>
  until(`${buildId} is current`, () => {
    const version = ['--deployment-name', NAME, '--build-id', buildId];
    return cli('worker', 'deployment', 'set-current-version', ...version, '--yes').catch(() => null);
  });

const move = ({ id }: SessionHandle, buildId: string) =>
  cli(
    ...['workflow', 'update-options', '--workflow-id', id, '--versioning-override-behavior', 'pinned'],
    ...['--versioning-override-deployment-name', NAME, '--versioning-override-build-id', buildId],
  );

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'apomesh-versions-'));
  temporal = await startTemporal({
    dataDir,
    binDir: join(import.meta.dirname, '..', '..', '.apomesh'),
    extraArgs: ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=90'],
    say: () => undefined,
  });
  one = await build('one');
  await makeCurrent('one');
});
afterAll(async () => {
  await closePools();
  await temporal.stop();
  await rm(dataDir, { recursive: true });
});

/** A session that has run on the current build, and waits for a person with more to do. */
async function waiting(mode: string, nodes: number) {
  const more = Array.from({ length: nodes }, (_, n) => calls(['where', { n }]));
  const session = await one.start(mode, goalOf(calls(['where', { n: -1 }]), calls(['ask', { n: -2 }]), ...more));
  return { session, pause: await pauseOf(session) };
}

describe('workers of two builds on one queue', () => {
  it('P1: sessions stay on the build they began on; they move by continue-as-new, or by an operator’s word', async () => {
    const begun = await Promise.all(
      modes.map(async (mode) => ({
        stays: await waiting(mode, 1),
        moved: await waiting(mode, 1),
        long: await waiting(mode, 30),
        resumed: await waiting(mode, 1),
      })),
    );
    const two = await build('two');
    await makeCurrent('two');
    const after = await Promise.all(
      begun.map(async ({ stays, moved, long, resumed }, i) => {
        const fresh = await two.start(modes[i] ?? 'loop', goalOf(calls(['where', { n: 0 }])));
        await move(moved.session, 'two');
        await two.client.workflow.getHandle(resumed.session.id).terminate('to be resumed');
        await two.apomesh.recovery.resume(resumed.session.id);
        for (const { session, pause } of [stays, moved, long, resumed])
          await session.answer(pause, { decision: 'approve' });
        for (const session of [fresh, stays.session, moved.session, long.session, resumed.session])
          expect(await session.output()).toBe('done');
        const builds = ({ id }: SessionHandle) => ran.get(id);
        expect(builds(fresh)).toEqual(['two']);
        expect(builds(stays.session)).toEqual(['one', 'one', 'one']);
        expect(builds(moved.session)).toEqual(['one', 'two', 'two']);
        expect(builds(resumed.session)).toEqual(['one', 'two', 'two']);
        return builds(long.session) ?? [];
      }),
    );
    for (const builds of after) {
      const moves = builds.filter((buildId, n) => buildId !== builds[n - 1]);
      expect(builds).toHaveLength(32);
      expect(moves).toEqual(['one', 'two']);
      expect(builds.slice(0, 3)).toEqual(['one', 'one', 'one']);
    }
  });

  it('R1: scans are bound to none', async () => {
    const scan = await until('a scan ran', async () => {
      const { raw, status } = await one.client.workflow.getHandle(RECOVERY_ID).describe();
      return status.name === 'COMPLETED' && raw.workflowExecutionInfo?.versioningInfo;
    });
    expect(scan).toMatchObject({ behavior: AUTO_UPGRADE, deploymentVersion: { buildId: 'two' } });
  });
});
