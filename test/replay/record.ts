import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServices } from '../../src/services/services.ts';
import { calls, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';
import { record } from './histories.ts';
import { modes } from './modes.ts';
import { bootScan, lostScenarios, scenarios } from './scenarios.ts';
import { openStage, type Stage } from './stage.ts';

/** Events of a history after which a session goes on in another run. */
const LONGEST = 60;

/**
 * Records the histories that `replay.test.ts` replays: `npm run histories`. Once workflows of a release run somewhere, its
 * histories stay: a change of the workflows must go along with them, and what it adds is recorded beside them.
 */
const dataDir = await mkdtemp(join(tmpdir(), 'apomesh-histories-'));
const services = await startServices({
  dataDir,
  binDir: join(import.meta.dirname, '..', '..', '.apomesh'),
  temporal: { extraArgs: ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${LONGEST}`] },
  say: () => undefined,
});
const stage = await openStage(services, join(dataDir, 'work'));
try {
  await recordAll(stage);
} finally {
  await stage.close();
  await services.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function recordAll(stage: Stage): Promise<void> {
  const begun = await beginOnLost(stage);
  for (const id of ['a', 'b', 'c', ...begun.map(({ name }) => name)]) stage.deeds.open(id);
  await stage.running(async () => {
    for (const { name, session, end } of begun) {
      await end(session);
      await session.output();
      await keep(name, session.id);
    }
    for (const [kind, run] of Object.entries(scenarios))
      await Promise.all(modes.map(async (mode) => keep(`${kind}.${mode}`, await run(stage, mode))));
    await keep('boot-scan', await bootScan(stage));
  });
}

/** Begins what a worker is lost in the middle of. */
async function beginOnLost({ start, losing, deeds }: Stage) {
  const plan = Object.entries(lostScenarios).flatMap(([kind, one]) =>
    modes.map((mode) => ({ ...one, name: `${kind}.${mode}`, agent: `goals-${mode}` })),
  );
  const begun = await Promise.all(
    plan.map(async (one) => ({ ...one, session: await start(one.agent, goalOf(calls([one.tool, { id: one.name }]))) })),
  );
  await losing(async () => {
    await until('all of them run', () => begun.every(({ name }) => deeds.begun(name).length > 0));
  });
  return begun;
}

async function keep(name: string, workflowId: string): Promise<void> {
  const { workflow } = stage.client;
  const handle = workflow.getHandle(workflowId);
  await handle.result().catch(() => undefined);
  await record(name, handle, (runId) => workflow.getHandle(workflowId, runId, { followRuns: false }));
  process.stderr.write(`${name}\n`);
}
