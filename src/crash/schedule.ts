import { Sessions } from '../client/sessions.ts';
import type { Temporal } from '../client/temporal.ts';
import { DEFAULT_TASK_QUEUE } from '../contract/session.ts';
import { createModels } from '../models/models.ts';
import { parseConfig, type ResolvedConfig } from '../plugin/config.ts';
import type { OpenPauseView } from '../session/view.ts';
import { memoryStores } from '../stores/memory/stores.ts';
import { toolset } from '../tools/toolset.ts';
import { Clock, settle } from './clock.ts';
import type { CrashRun } from './crash.ts';
import { Crew } from './crew.ts';
import { Draws } from './draws.ts';
import { Faults } from './faults.ts';
import { GatedWorld } from './gated-world.ts';
import { Incidents } from './incidents.ts';
import { brokenBy } from './invariants.ts';
import { People } from './people.ts';
import { inProcess } from './process.ts';
import { Rescue } from './rescue.ts';
import type { CrashScene, MakeScene } from './scene.ts';
import { Server } from './server.ts';
import { Tasks } from './tasks.ts';
import { Turns } from './turns.ts';
import { Witness } from './witness.ts';
import { loadWorkflows } from './workflow-instance.ts';

const SESSION = 's-1';
const START = Date.UTC(2026, 0, 1);
/** Far more than a schedule takes. */
const MOST_TURNS = 20_000;
const LONGEST_MS = 3_600_000;
/** How long those that come back late are waited for, once the session is over. */
const AFTERMATH_MS = 60_000;
const WORKERS = 2;

/** Plays one schedule: the same seed plays the same one. Nothing else of this program may go on meanwhile. */
export async function playSchedule(seed: string, make: MakeScene): Promise<Omit<CrashRun, 'seed'>> {
  const workflows = await loadWorkflows();
  const clock = new Clock(START);
  const uninstall = clock.install();
  try {
    return await inProcess(undefined, () => play(seed, make, clock, workflows));
  } finally {
    uninstall();
  }
}

async function play(
  seed: string,
  make: MakeScene,
  clock: Clock,
  workflows: Readonly<Record<string, unknown>>,
): Promise<Omit<CrashRun, 'seed'>> {
  const draws = new Draws(`schedule/${seed}`);
  const faults = new Faults(draws);
  const turns = new Turns(clock, draws, faults);
  const own = new Draws(`scene/${seed}`);
  const scene = make({ random: own.number, remote: (ms, serve) => remote(turns, ms, serve) });
  const config = parseConfig(scene.config, null);
  const witness = new Witness(memoryStores());
  const world = new GatedWorld(turns, witness, await toolset(config), createModels(config), scene.realWork ?? false);
  const { limits } = config;
  const server = new Server({ turns, draws, workflows });
  const { stores } = witness;
  const crew = new Crew({ turns, draws, stores, world, limits, workflows: server, queues: queuesOf(config) });
  const tasks = new Tasks(turns, draws, crew);
  server.serveWith(tasks);
  await start(scene, config, witness, server);
  const answer = (pause: OpenPauseView) => (scene.answer ?? anything)(pause, draws.number);
  const people = new People({ turns, draws, faults, witness, server, session: SESSION, answer });
  const { heartbeatTimeoutMs } = limits;
  const rescue = new Rescue({ turns, draws, faults, crew, server, witness, session: SESSION, heartbeatTimeoutMs });
  const incidents = new Incidents({ turns, draws, faults, crew, tasks, server, people, rescue, session: SESSION });
  const broken: string[] = [];
  try {
    await run({ turns, server, incidents, rescue, witness });
    const end = {
      session: SESSION,
      graceMs: limits.doubtGraceMs,
      stores,
      witness,
      rescue,
      world,
      people,
      crew,
      server,
      turns,
    };
    const events = await stores.read(SESSION);
    broken.push(...(await brokenBy(end)), ...(scene.check?.({ session: SESSION, events }) ?? []));
  } catch (error) {
    broken.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  for (const process of crew.processes) process.die();
  await turns.end();
  return { broken, trace: turns.trace, faults: faults.befallen };
}

/** The main queue, and those that tools name. */
function queuesOf({ tools }: ResolvedConfig): Map<string, number> {
  const others = tools.flatMap(({ taskQueue }) => (taskQueue === undefined ? [] : [[taskQueue, 1] as const]));
  return new Map([[DEFAULT_TASK_QUEUE, WORKERS], ...others]);
}

async function start(scene: CrashScene, config: ResolvedConfig, { stores }: Witness, server: Server): Promise<void> {
  const sessions = new Sessions(server as unknown as Temporal, stores, config);
  await sessions.start({ agent: scene.agent, goal: scene.goal ?? 'play', id: SESSION });
}

interface Running {
  readonly turns: Turns;
  readonly server: Server;
  readonly incidents: Incidents;
  readonly rescue: Rescue;
  readonly witness: Witness;
}

/** Until the session is over, or left to lie, and whoever comes late has come. */
async function run(running: Running): Promise<void> {
  const { turns, incidents } = running;
  await settle();
  let overAt = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const isOver = await isAtRest(running);
    if (isOver && overAt === Number.POSITIVE_INFINITY) overAt = turns.clock.now + AFTERMATH_MS;
    if (isOver && (turns.clock.now > overAt || turns.isIdle(overAt))) return;
    if (!isOver) await incidents.maybe();
    if (!(await turns.next()) || turns.clock.now - START > LONGEST_MS) break;
  }
  if (!(await isAtRest(running))) throw new Error(`${SESSION} does not come to an end`);
}

async function isAtRest({ server, rescue, witness }: Running): Promise<boolean> {
  if (server.isAdrift(SESSION)) return witness.isTerminal(SESSION) || rescue.isLeft();
  return server.outcome(SESSION) !== null;
}

const anything: NonNullable<CrashScene['answer']> = ({ accepts, kind }, random) => {
  const decisions = accepts.filter((decision) => decision !== 'edit');
  const decision = decisions[Math.floor(random() * decisions.length)] ?? 'approve';
  return kind === 'in-doubt' && decision === 'happened' ? { decision, result: null } : { decision };
};

/** Answered for a process that may be gone by then. */
function remote<T>(turns: Turns, ms: number, serve: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const answer = () => {
      try {
        resolve(serve());
      } catch (error) {
        reject(error);
      }
    };
    turns.later(ms, answer);
  });
}
