import { msOf, type TaskOwner, type Tasks } from './tasks.ts';
import type { Turns } from './turns.ts';
import {
  type Command,
  type Fields,
  fromFailureProto,
  fromPayload,
  type Job,
  WorkflowInstance,
} from './workflow-instance.ts';

/** How a run of a workflow ended. */
export interface Outcome {
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'CONTINUED_AS_NEW' | 'TERMINATED';
  /** What it returned, or the error it failed with. */
  readonly result: unknown;
}

/** What became of an update: `gone` where the run that took it was ended by a reset, or was over. */
export type UpdateResult =
  | { readonly of: 'completed'; readonly value: unknown }
  | { readonly of: 'rejected'; readonly error: Error }
  | { readonly of: 'gone' };

/** One thing that a run was told, when, and what it asked for then. */
export interface Told {
  readonly at: number;
  readonly job: Job;
  readonly asked: readonly string[];
}

export interface RunOptions {
  readonly turns: Turns;
  readonly tasks: Tasks;
  readonly workflow: unknown;
  readonly workflowType: string;
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly runId: string;
  /** Of the run that this one goes back to, by resets and by continuing as new. */
  readonly firstRunId: string;
  readonly seed: number;
  readonly onUpdate: (id: string, result: UpdateResult) => void;
  readonly onContinue: (args: readonly unknown[]) => void;
}

/** Commands that concern nobody here. */
const SHOWN = new Set(['upsertWorkflowSearchAttributes', 'modifyWorkflowProperties', 'setPatchMarker']);

/** One run of a workflow, with its history. */
export class Run implements TaskOwner {
  readonly workflowId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly runId: string;
  readonly firstRunId: string;
  readonly seed: number;
  /** Its workflow tasks fail: it hears nothing. */
  isStuck = false;
  readonly history: Told[] = [];
  outcome: Outcome | null = null;
  readonly #options: RunOptions;
  readonly #obeyed: Readonly<Record<string, (fields: Fields, seq: number) => void>>;
  readonly #instance: WorkflowInstance;
  readonly #timers = new Map<number, number>();
  readonly #updates = new Set<string>();

  constructor(options: RunOptions) {
    const { workflow, workflowId, workflowType, taskQueue, runId, firstRunId, seed, turns } = options;
    this.#options = options;
    this.#obeyed = this.#commands(options);
    this.workflowId = workflowId;
    this.workflowType = workflowType;
    this.taskQueue = taskQueue;
    this.runId = runId;
    this.firstRunId = firstRunId;
    this.seed = seed;
    const startedAt = turns.clock.now;
    this.#instance = new WorkflowInstance(workflow, {
      workflowId,
      workflowType,
      taskQueue,
      runId,
      firstExecutionRunId: firstRunId,
      seed,
      startedAt,
    });
  }

  #commands({ tasks, turns, onContinue }: RunOptions): Readonly<Record<string, (fields: Fields, seq: number) => void>> {
    return {
      scheduleActivity: (fields) => tasks.schedule(this, fields),
      scheduleLocalActivity: (fields) => tasks.scheduleLocal(this, fields),
      requestCancelActivity: (_, seq) => tasks.requestCancel(this, seq),
      requestCancelLocalActivity: (_, seq) => tasks.requestCancelLocal(this, seq),
      startTimer: (fields, seq) => this.#startTimer(seq, msOf(fields['startToFireTimeout']) ?? 0),
      cancelTimer: (_, seq) => turns.clock.clear(this.#timers.get(seq)),
      updateResponse: (fields) => this.#respond(fields),
      completeWorkflowExecution: ({ result }) =>
        this.close({ status: 'COMPLETED', result: result ? fromPayload(result) : null }),
      failWorkflowExecution: ({ failure }) => this.close({ status: 'FAILED', result: fromFailureProto(failure) }),
      cancelWorkflowExecution: () => this.close({ status: 'CANCELLED', result: null }),
      continueAsNewWorkflowExecution: (fields) => {
        this.close({ status: 'CONTINUED_AS_NEW', result: null });
        onContinue(fields['arguments'] as readonly unknown[]);
      },
    };
  }

  get isClosed(): boolean {
    return this.outcome !== null;
  }

  /** Tells it, when its turn comes. */
  tell(job: Job): void {
    const label = `${this.runId} gets ${Object.keys(job)[0]}`;
    this.#options.turns.add({ kind: 'elsewhere', label, perform: () => this.deliver(job) });
  }

  /** Tells it now, and does what it asks for. */
  async deliver(job: Job): Promise<void> {
    if (this.isClosed || this.isStuck) return;
    const { turns } = this.#options;
    const commands = await this.#instance.tell(job);
    this.history.push({ at: turns.clock.now, job, asked: commands.map(nameOf) });
    for (const command of commands) this.#obey(command);
  }

  /** Goes through what an earlier run was told, and takes up what is open after it. @throws where the code asks for something else. */
  async replay(history: readonly Told[]): Promise<void> {
    const { clock } = this.#options.turns;
    const open = new Map<string, Command>();
    for (const told of history) {
      const commands = await clock.at(told.at, () => this.#instance.tell(told.job));
      const asked = commands.map(nameOf);
      if (asked.join() !== told.asked.join())
        throw new Error(
          `the workflow is not deterministic: it asked for ${told.asked.join()}, and now for ${asked.join()}`,
        );
      this.history.push(told);
      for (const key of settledBy(told.job)) open.delete(key);
      for (const command of commands) {
        for (const key of settledBy(command)) open.delete(key);
        if (isOpening(command)) open.set(keyOf(command), command);
      }
    }
    await this.#instance.tell({ updateRandomSeed: { randomnessSeed: { toBytes: () => seedOf(this.runId) } } });
    for (const command of open.values()) this.#obey(command);
  }

  close(outcome: Outcome): void {
    if (this.isClosed) return;
    this.outcome = outcome;
    for (const timer of this.#timers.values()) this.#options.turns.clock.clear(timer);
    for (const id of this.#updates) this.#options.onUpdate(id, { of: 'gone' });
    this.#options.turns.say(`${this.runId} is ${outcome.status}`);
  }

  #obey(command: Command): void {
    const [name, fields] = entryOf(command);
    const obey = this.#obeyed[name];
    if (obey) obey(fields, Number(fields['seq']));
    else if (!SHOWN.has(name)) throw new TypeError(`crash schedules know no command ${name}`);
  }

  #startTimer(seq: number, ms: number): void {
    const fire = () => this.tell({ fireTimer: { seq } });
    this.#timers.set(seq, this.#options.turns.later(ms, fire));
  }

  #respond(fields: Fields): void {
    const id = String(fields['protocolInstanceId']);
    if (fields['accepted']) this.#updates.add(id);
    if (fields['rejected']) this.#options.onUpdate(id, { of: 'rejected', error: fromFailureProto(fields['rejected']) });
    if (fields['completed']) this.#options.onUpdate(id, { of: 'completed', value: fromPayload(fields['completed']) });
    if (!fields['accepted']) this.#updates.delete(id);
  }
}

/** The one field of a command that says what it is. */
function entryOf(command: Command): [string, Fields] {
  const entry = Object.entries(command).find(
    ([name, fields]) =>
      fields !== undefined && fields !== null && name !== 'userMetadata' && name !== 'eventGroupMarkers',
  );
  if (!entry) throw new TypeError('a command says nothing');
  return entry as [string, Fields];
}

const nameOf = (command: Command): string => {
  const [name, fields] = entryOf(command);
  return `${name} ${String(fields['activityType'] ?? '')} ${String(fields['seq'] ?? '')}`;
};

const isOpening = (command: Command): boolean =>
  ['scheduleActivity', 'scheduleLocalActivity', 'startTimer'].includes(entryOf(command)[0]);

const keyOf = (command: Command): string => {
  const [name, fields] = entryOf(command);
  return `${name === 'startTimer' ? 'timer' : 'activity'} ${Number(fields['seq'])}`;
};

/** What a job or a command puts an end to. */
function settledBy(told: Job | Command): string[] {
  const { resolveActivity, fireTimer, cancelTimer } = told as Readonly<Record<string, Fields | undefined>>;
  return [
    ...(resolveActivity ? [`activity ${Number(resolveActivity['seq'])}`] : []),
    ...[fireTimer, cancelTimer].flatMap((timer) => (timer ? [`timer ${Number(timer['seq'])}`] : [])),
  ];
}

const seedOf = (runId: string): number[] => [...runId].map((letter) => letter.charCodeAt(0));
