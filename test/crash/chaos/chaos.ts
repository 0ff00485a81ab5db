import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { ApomeshClient } from '../../../src/client/client.ts';
import { ApomeshPlugin } from '../../../src/plugin/plugin.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { formatLog } from '../../../src/session/ndjson.ts';
import { mongoStores } from '../../../src/stores/mongo/stores.ts';
import { acknowledgedIn } from '../trap.ts';
import { Case, Troubles } from './case.ts';
import { configOf } from './config.ts';
import { Fleet } from './fleet.ts';
import { brokenBy, type Evidence } from './invariants.ts';
import { Ledger } from './ledger.ts';
import { answerAll, begin, meddle, operate, type People } from './people.ts';
import { planOf } from './plan.ts';
import { Servers } from './servers.ts';
import { Storm } from './storm.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long it takes in all, the calm at its end included, unless the calm takes longer. */
  readonly minutes: number;
  readonly sessions: number;
  readonly workers: number;
  readonly say: (line: string) => void;
  /** Aborted to break off. */
  readonly signal: AbortSignal;
}

/** What a run came to. */
export interface ChaosReport {
  readonly seed: number;
  readonly evidence: readonly Evidence[];
  readonly broken: readonly string[];
  readonly disturbances: Readonly<Record<string, number>>;
  readonly accidents: Readonly<Record<string, number>>;
  readonly troubles: Troubles;
  /** Folder with logs and ledger; null where nothing is broken. */
  readonly folder: string | null;
}

/** The calm that ends a run: at least so much of it, and at most. */
const CALM_MS = { least: 25_000, most: 180_000 } as const;
const DATABASE = 'chaos';
const TASK_QUEUE = 'chaos';

/** Runs sessions while processes die, and checks what is left of them. Everything it needs is started, and stopped again. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'apomesh-chaos-'));
  const servers = await Servers.open(join(folder, 'servers'));
  const bundle = join(folder, 'workflows.js');
  const logger = new DefaultLogger('ERROR');
  const { code } = await bundleWorkflowCode({ workflowsPath: '', plugins: [new ApomeshPlugin({})], logger });
  writeFileSync(bundle, code);
  const where = { temporal: servers.address, mongo: servers.mongoUri, database: DATABASE, taskQueue: TASK_QUEUE };
  const fleet = new Fleet(options.workers, { ...where, folder, bundle });
  const stores = mongoStores({ uri: servers.mongoUri, database: DATABASE });
  const connection = await Connection.connect({ address: servers.address });
  try {
    const report = await runOn({ ...options, folder, servers, fleet, stores, connection });
    if (report.folder === null) rmSync(folder, { recursive: true, force: true });
    return report;
  } finally {
    await fleet.close();
    await stores.close();
    await connection.close();
    await servers.close();
  }
}

interface Scene extends ChaosOptions {
  readonly folder: string;
  readonly servers: Servers;
  readonly fleet: Fleet;
  readonly stores: Stores;
  readonly connection: Connection;
}

async function runOn(scene: Scene): Promise<ChaosReport> {
  const { folder, seed, stores, fleet, say, servers, connection } = scene;
  const stormMs = Math.max(scene.minutes * 30_000, scene.minutes * 60_000 - CALM_MS.least);
  const plan = planOf({ seed, sessions: scene.sessions, stormMs });
  const plugin = new ApomeshPlugin(configOf(folder), { stores });
  const client = new Client({ connection, plugins: [plugin] });
  const apomesh = new ApomeshClient({ client });
  const cases = plan.sessions.map((planned) => new Case(planned, apomesh.sessions.get(planned.id)));
  const troubles = new Troubles();
  const ledger = new Ledger(folder);
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, scene.signal]);
  const people: People = { apomesh, client, ledger, troubles, cases, taskQueue: TASK_QUEUE, signal };
  const storm = new Storm(servers, fleet, say);
  const working = Promise.all([answerAll(people), operate(people), ...cases.map((one) => live(people, one))]);
  await Promise.race([storm.run(plan.disturbances), aborted(scene.signal)]);
  scene.signal.throwIfAborted();
  say('calm');
  const unrest = await untilAtRest(people, stores);
  scene.signal.throwIfAborted();
  done.abort();
  await working;
  const evidence = await Promise.all(cases.map((one) => evidenceOf(scene, one, ledger)));
  const broken = [...unrest, ...evidence.flatMap(brokenBy), ...troubles.untyped, ...fleet.failedTasks];
  if (broken.length > 0) keep(folder, evidence);
  return {
    seed,
    evidence,
    broken,
    disturbances: storm.counts,
    accidents: fleet.accidents,
    troubles,
    folder: broken.length > 0 ? folder : null,
  };
}

async function live(people: People, one: Case): Promise<void> {
  await sleep(one.planned.atMs, undefined, { signal: people.signal }).catch(() => undefined);
  if (people.signal.aborted) return;
  if (await begin(people, one)) await Promise.all([meddle(people, one), one.follow(people.troubles, people.signal)]);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Waits until every session is over, or closed by a person and listed so. Gives what keeps it from that. */
async function untilAtRest({ cases, apomesh, troubles, signal }: People, stores: Stores): Promise<string[]> {
  const deadline = Date.now() + CALM_MS.most;
  for (;;) {
    const open: string[] = [];
    for (const { id, isOver } of cases) {
      const isClosed = async () => (await stores.listed(id))?.class === 'closed';
      if (!(isOver || (await isClosed()))) open.push(id);
    }
    if (open.length === 0 || Date.now() > deadline || signal.aborted) {
      await apomesh.recovery.scan().catch((error: unknown) => troubles.note('last scan', error));
      return open.map((id) => `${id}: it has not come to rest`);
    }
    await sleep(500);
  }
}

async function evidenceOf({ stores, folder }: Scene, one: Case, ledger: Ledger): Promise<Evidence> {
  const { id, planned, seen, accepted, session } = one;
  return {
    planned,
    seen,
    accepted,
    log: await session.events(),
    acknowledged: acknowledgedIn(folder).filter((place) => place.session === id),
    deeds: ledger.deeds().filter((deed) => deed.session === id),
    listed: await stores.listed(id),
    verification: await session.verify(),
  };
}

function keep(folder: string, evidence: readonly Evidence[]): void {
  for (const { planned, log } of evidence) writeFileSync(join(folder, `${planned.id}.ndjson`), formatLog([...log]));
}
