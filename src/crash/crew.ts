import { createActivities, type Engine, Sessions } from '../../activities/index.ts';
import type { Spent } from '../agent/budget.ts';
import type { ApomeshActivities } from '../contract/activities.ts';
import { DEFAULT_TASK_QUEUE } from '../contract/session.ts';
import { WorkerLeaving } from '../plugin/leaving.ts';
import type { ResolvedLimits } from '../plugin/limits.ts';
import { Presence } from '../plugin/presence.ts';
import type { Stores } from '../ports/store.ts';
import type { Workflows } from '../ports/workflows.ts';
import type { Draws } from './draws.ts';
import { gatedStores } from './gated-stores.ts';
import { gatedWorkflows } from './gated-workflows.ts';
import type { GatedWorld } from './gated-world.ts';
import { inProcess, Process } from './process.ts';
import type { Turns } from './turns.ts';

export interface CrewOptions {
  readonly turns: Turns;
  readonly draws: Draws;
  readonly stores: Stores;
  readonly world: GatedWorld;
  readonly workflows: Workflows;
  readonly limits: ResolvedLimits;
  /** Task queues, the sessions' own first, each with how many workers it has. */
  readonly queues: ReadonlyMap<string, number>;
}

/** What all activities tell of. */
export interface ActivityOutcome {
  readonly kind?: string;
  readonly lastSeq: number;
  readonly spent?: Spent;
}

type AnyActivity = (input: unknown) => Promise<unknown>;

const LONGEST_ABSENCE_MS = 5_000;
const PATIENCE_STEP_MS = 100;

/** The worker processes: each task queue has as many as it should have again, some time after one has died. */
export class Crew {
  /** What activities came to, as far as they did. */
  readonly results: ActivityOutcome[] = [];
  readonly #options: CrewOptions;
  readonly #activities = new Map<Process, ApomeshActivities>();
  readonly #leaving = new WeakMap<Process, WorkerLeaving>();
  #hired = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
    for (const [queue, count] of options.queues) for (let i = 0; i < count; i += 1) this.#hire(queue);
  }

  get processes(): readonly Process[] {
    return [...this.#activities.keys()];
  }

  /** Those that would take a task of a queue. */
  of(queue: string): Process[] {
    return this.processes.filter((process) => process.taskQueue === queue && process.takesTasks);
  }

  /** Those that run the sessions' workflows. */
  ofMain(): Process[] {
    return this.of(DEFAULT_TASK_QUEUE);
  }

  /** Runs an activity; it must be called in the process. */
  run(process: Process, name: string, input: unknown): Promise<unknown> {
    const activities = this.#activities.get(process) as unknown as Record<string, AnyActivity> | undefined;
    const activity = activities?.[name];
    if (!activity) throw new TypeError(`${process.id} has no activity ${name}`);
    return activity(input).then((result) => {
      this.results.push(result as ActivityOutcome);
      return result;
    });
  }

  /** It lets its agents go, and is dead once `isBusy` says so or its patience is at an end (W5). */
  dismiss(process: Process, isBusy: () => boolean, patienceMs: number): void {
    const { turns } = this.#options;
    const endAt = turns.clock.now + patienceMs;
    process.isLeaving = true;
    inProcess(process, () => this.#leaving.get(process)?.begin());
    const check = () => {
      if (process.state === 'running' && (!isBusy() || turns.clock.now >= endAt)) process.die();
      else if (process.state !== 'dead') turns.later(PATIENCE_STEP_MS, check);
    };
    check();
  }

  #hire(queue: string): void {
    const { turns, draws, stores, world, limits, workflows } = this.#options;
    this.#hired += 1;
    const process = new Process(`w${this.#hired}`, queue);
    const gated = gatedStores(stores, process, turns, draws);
    const presence = new Presence(gated, process.id, queue, limits.heartbeatTimeoutMs);
    const leaving = leavingOf(limits.shutdownGraceMs);
    this.#leaving.set(process, leaving);
    const engine: Engine = {
      ...world.of(process),
      stores: gated,
      limits,
      leaving,
      workflows: gatedWorkflows(workflows, process, turns),
      sessions: new Sessions(gated),
      worker: process.id,
      taskQueue: queue,
      alive: () => presence.alive(),
      log: () => undefined,
    };
    this.#activities.set(process, createActivities(engine));
    turns.say(`${process.id} works on ${queue}`);
    process.onDeath(() => {
      turns.say(`${process.id} is dead`);
      this.#activities.delete(process);
      turns.later(draws.between(1, LONGEST_ABSENCE_MS), () => this.#hire(queue));
    });
  }
}

/** Begins when it is told to, and looks at nothing. */
function leavingOf(graceMs: number): WorkerLeaving {
  const leaving = new WorkerLeaving({ getState: () => 'RUNNING' }, graceMs);
  leaving.stop();
  return leaving;
}
