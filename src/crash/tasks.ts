import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { type Running, runActivity } from './activity-context.ts';
import type { Crew } from './crew.ts';
import type { Draws } from './draws.ts';
import type { Fate } from './faults.ts';
import type { Process } from './process.ts';
import type { Turns } from './turns.ts';
import { type Fields, fromPayloads, type Job, toFailureProto, toPayload } from './workflow-instance.ts';

/** Whose task it is, and where its outcome goes. */
export interface TaskOwner {
  readonly workflowId: string;
  readonly runId: string;
  readonly isClosed: boolean;
  tell(job: Job): void;
}

interface Task {
  readonly owner: TaskOwner;
  readonly seq: number;
  readonly activityId: string;
  readonly name: string;
  readonly input: unknown;
  isOpen: boolean;
}

interface RemoteTask extends Task {
  readonly taskQueue: string;
  readonly heartbeatMs: number;
  isCancelRequested: boolean;
  beatAt: number;
  process: Process | null;
  running: Running | null;
}

/** When another worker takes up a workflow, and with it the local activities that were under way. */
const WORKFLOW_TASK_MS = 10_000;
const LOCAL_LIMIT_MS = 60_000;
const LOCAL_RETRY_MS = 200;
const DEFAULT_HEARTBEAT_MS = 10_000;

/** Activities as Temporal runs them: given to a worker, waited for, given up in silence. */
export class Tasks {
  readonly #turns: Turns;
  readonly #draws: Draws;
  readonly #crew: Crew;
  readonly #tasks = new Set<RemoteTask>();
  readonly #local = new Set<Task>();

  constructor(turns: Turns, draws: Draws, crew: Crew) {
    this.#turns = turns;
    this.#draws = draws;
    this.#crew = crew;
  }

  schedule(owner: TaskOwner, fields: Fields): void {
    const task: RemoteTask = {
      ...taskOf(owner, fields),
      taskQueue: String(fields['taskQueue']),
      heartbeatMs: msOf(fields['heartbeatTimeout']) ?? DEFAULT_HEARTBEAT_MS,
      isCancelRequested: false,
      beatAt: 0,
      process: null,
      running: null,
    };
    this.#tasks.add(task);
    this.#turns.add({
      kind: 'elsewhere',
      label: `starts ${task.name} ${owner.runId}/${task.activityId}`,
      ready: () => !this.#isWanted(task) || this.#crew.of(task.taskQueue).length > 0,
      perform: () => this.#start(task),
    });
  }

  requestCancel(owner: TaskOwner, seq: number): void {
    for (const task of this.#tasks) {
      if (task.owner !== owner || task.seq !== seq || !task.isOpen) continue;
      task.isCancelRequested = true;
      if (task.process === null) this.#end(task, cancelled(task));
    }
  }

  /** An activity whose process lives and which nobody waits for any more is still told so, with its next beat. */
  #isWanted(task: Task): boolean {
    return task.isOpen && !task.owner.isClosed;
  }

  #start(task: RemoteTask): void {
    if (!this.#isWanted(task)) return;
    const process = this.#draws.pick(this.#crew.of(task.taskQueue));
    this.#turns.say(`${process.id} has ${task.name} ${task.owner.runId}/${task.activityId}`);
    task.process = process;
    task.beatAt = this.#turns.clock.now;
    this.#watch(task);
    const { workflowId, runId } = task.owner;
    const { activityId, heartbeatMs } = task;
    const onBeat = () => this.#beat(task);
    const turns = this.#turns;
    task.running = runActivity({ turns, process, workflowId, runId, activityId, heartbeatMs, onBeat }, () =>
      this.#crew.run(process, task.name, task.input),
    );
    task.running.result.then(
      (value) => this.#report(task, process, () => ({ completed: { result: toPayload(value) } })),
      (error) => this.#report(task, process, () => outcomeOf(task, error)),
    );
  }

  /** Gives a task up that was silent for too long. */
  #watch(task: RemoteTask): void {
    const { clock } = this.#turns;
    const check = () => {
      if (!this.#isWanted(task)) return;
      if (clock.now - task.beatAt < task.heartbeatMs) return this.#watch(task);
      this.#turns.say(`${task.name} ${task.activityId} of ${task.process?.id} is given up`);
      this.#end(task, { failed: { failure: failed(task, new TimeoutFailure('silent', undefined, 'HEARTBEAT')) } });
    };
    this.#turns.later(task.beatAt + task.heartbeatMs - clock.now, check);
  }

  #beat(task: RemoteTask): void {
    if (task.process?.state !== 'running' || !task.process.isConnected) return;
    task.beatAt = this.#turns.clock.now;
    if (!this.#isWanted(task)) task.running?.stop('notFound');
    else if (task.isCancelRequested) task.running?.stop('cancelRequested');
  }

  #report(task: RemoteTask, process: Process, outcome: () => object): void {
    const perform = (fate: Fate) => {
      if (fate !== 'crash-before' && this.#isWanted(task)) this.#end(task, outcome());
      this.#tasks.delete(task);
      if (fate !== 'go') process.die();
    };
    const label = `reports ${task.name} ${task.owner.runId}/${task.activityId}`;
    this.#turns.add({ kind: 'task', label, process, needsTemporal: true, perform });
  }

  #end(task: Task, result: object): void {
    task.isOpen = false;
    this.#local.delete(task);
    task.owner.tell({ resolveActivity: { seq: task.seq, result } });
  }

  /** Whether a process has activities under way. */
  isBusy(process: Process): boolean {
    return [...this.#tasks].some((task) => task.process === process);
  }

  /** A local activity: run by the worker that has the workflow, and run again by another where that one is lost. */
  scheduleLocal(owner: TaskOwner, fields: Fields): void {
    const task = taskOf(owner, fields);
    this.#local.add(task);
    this.#tryLocal(task, 0);
  }

  /** It is given up at once, though it may go on. */
  requestCancelLocal(owner: TaskOwner, seq: number): void {
    for (const task of this.#local)
      if (task.owner === owner && task.seq === seq && task.isOpen) this.#end(task, cancelled(task));
  }

  #tryLocal(task: Task, retries: number): void {
    this.#turns.add({
      kind: 'elsewhere',
      label: `starts local ${task.name} ${task.owner.runId}/${task.activityId}`,
      ready: () => !this.#isWanted(task) || this.#crew.ofMain().length > 0,
      perform: () => this.#startLocal(task, retries),
    });
  }

  #startLocal(task: Task, retries: number): void {
    if (!this.#isWanted(task)) return;
    const { clock } = this.#turns;
    const process = this.#draws.pick(this.#crew.ofMain());
    this.#turns.say(`${process.id} has local ${task.name} ${task.owner.runId}/${task.activityId}`);
    let isOver = false;
    const leave = () => {
      const wasOver = isOver;
      isOver = true;
      unmourn();
      clock.clear(early);
      clock.clear(late);
      return !wasOver && this.#isWanted(task);
    };
    const again = () => leave() && this.#tryLocal(task, retries);
    const unmourn = process.onDeath(again);
    const early = this.#turns.later(WORKFLOW_TASK_MS, () => !process.takesTasks && again());
    const late = this.#turns.later(LOCAL_LIMIT_MS, again);
    const options = {
      process,
      workflowId: task.owner.workflowId,
      runId: task.owner.runId,
      activityId: task.activityId,
    };
    const { result } = runActivity(
      { turns: this.#turns, ...options, heartbeatMs: DEFAULT_HEARTBEAT_MS, onBeat: () => undefined },
      () => this.#crew.run(process, task.name, task.input),
    );
    const settled = (end: () => void) => {
      const perform = (fate: Fate) => {
        if (fate !== 'crash-before' && leave()) end();
        if (fate !== 'go') process.die();
      };
      this.#turns.add({ kind: 'task', label: `has done local ${task.name}`, process, needsTemporal: true, perform });
    };
    result.then(
      (value) => settled(() => this.#end(task, { completed: { result: toPayload(value) } })),
      (error: unknown) =>
        settled(() => {
          if (error instanceof ApplicationFailure && error.nonRetryable) return this.#end(task, outcomeOf(task, error));
          this.#turns.later(LOCAL_RETRY_MS * 2 ** Math.min(retries, 5), () => this.#tryLocal(task, retries + 1));
        }),
    );
  }
}

const taskOf = (owner: TaskOwner, fields: Fields): Task => ({
  owner,
  seq: Number(fields['seq']),
  activityId: String(fields['activityId']),
  name: String(fields['activityType']),
  input: fromPayloads(fields['arguments'])[0],
  isOpen: true,
});

const failed = (task: Task, cause: Error) =>
  toFailureProto(
    new ActivityFailure('activity failed', task.name, task.activityId, 'NON_RETRYABLE_FAILURE', 'crash', cause),
  );

const cancelled = (task: Task, why = new CancelledFailure('cancelled')) => ({
  cancelled: { failure: failed(task, why) },
});

function outcomeOf(task: Task, error: unknown): object {
  if (error instanceof CancelledFailure) return cancelled(task, error);
  return { failed: { failure: failed(task, ApplicationFailure.fromError(error)) } };
}

/** Milliseconds of a protobuf duration. */
export function msOf(duration: unknown): number | null {
  if (typeof duration !== 'object' || duration === null) return null;
  const { seconds, nanos } = duration as { seconds?: unknown; nanos?: number };
  return Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6;
}
