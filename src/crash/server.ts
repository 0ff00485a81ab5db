import { SessionLiveError } from '../contract/errors.ts';
import { SESSION_WORKFLOW, type SessionInput } from '../contract/session.ts';
import type { WorkflowState, Workflows } from '../ports/workflows.ts';
import type { Draws } from './draws.ts';
import { type Outcome, Run, type UpdateResult } from './run.ts';
import type { Tasks } from './tasks.ts';
import type { Turns } from './turns.ts';
import { type Job, toPayload } from './workflow-instance.ts';

export interface ServerOptions {
  readonly turns: Turns;
  readonly draws: Draws;
  /** By workflow type. */
  readonly workflows: Readonly<Record<string, unknown>>;
}

const STUCK_TASKS = 10;

/** As much of Temporal as sessions need: workflows by id, told one thing at a time, that outlive every worker. */
export class Server implements Workflows {
  readonly namespace = 'default';
  readonly #options: ServerOptions;
  #tasks: Tasks | null = null;
  readonly #current = new Map<string, Run>();
  readonly #updates = new Map<string, (result: UpdateResult) => void>();
  #runs = 0;
  #asked = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Says who runs activities, who in turn need the server. */
  serveWith(tasks: Tasks): void {
    this.#tasks = tasks;
  }

  async start(input: SessionInput, taskQueue: string): Promise<string> {
    const { session, resume } = input;
    const earlier = this.#current.get(session);
    if (earlier !== undefined && (resume === 0 || !earlier.isClosed)) throw new SessionLiveError(session);
    const run = this.#newRun(SESSION_WORKFLOW, session, taskQueue);
    run.tell({ initializeWorkflow: { arguments: [toPayload(input)] } });
    return run.runId;
  }

  async describe(session: string): Promise<WorkflowState | null> {
    const run = this.#current.get(session);
    if (!run) return null;
    const status = run.outcome?.status ?? 'RUNNING';
    return { status, isOpen: !run.isClosed, runId: run.runId, failedTasks: run.isStuck ? STUCK_TASKS : 0 };
  }

  async terminate(session: string, runId: string): Promise<boolean> {
    const run = this.#current.get(session);
    if (run?.runId !== runId || run.isClosed) return false;
    run.close({ status: 'TERMINATED', result: null });
    return true;
  }

  /** How the workflow of an id ended; null while it goes on, undefined where there is none. */
  outcome(workflowId: string): Outcome | null | undefined {
    const run = this.#current.get(workflowId);
    return run?.outcome;
  }

  /** Whether nobody drives it: its workflow was lost, or ended by a person, or its tasks fail. */
  isAdrift(workflowId: string): boolean {
    const run = this.#current.get(workflowId);
    return run === undefined || run.isStuck || run.outcome?.status === 'TERMINATED';
  }

  /** Temporal begins anew, and has never heard of anything. */
  lose(): void {
    for (const run of this.#current.values()) run.close({ status: 'TERMINATED', result: null });
    this.#current.clear();
  }

  /** A person ends it. */
  close(workflowId: string): void {
    this.#current.get(workflowId)?.close({ status: 'TERMINATED', result: null });
  }

  /** Its tasks fail from now on. */
  stick(workflowId: string): void {
    const run = this.#current.get(workflowId);
    if (run) run.isStuck = true;
  }

  signal(workflowId: string, signalName: string, value: unknown): void {
    this.#send(workflowId, `signal ${signalName}`, {
      signalWorkflow: { signalName, input: [toPayload(value)], headers: {} },
    });
  }

  update(workflowId: string, name: string, value: unknown): Promise<UpdateResult> {
    this.#asked += 1;
    const id = `u${this.#asked}`;
    return new Promise((resolve) => {
      this.#updates.set(id, resolve);
      const input = [toPayload(value)];
      const job = { id, protocolInstanceId: id, name, input, headers: {}, runValidator: true };
      this.#send(workflowId, `update ${name}`, { doUpdate: job }, () => this.#settleUpdate(id, { of: 'gone' }));
    });
  }

  /** Cancels it as the `temporal` command does. */
  cancel(workflowId: string): void {
    this.#send(workflowId, 'cancel', { cancelWorkflow: {} });
  }

  suggestContinueAsNew(workflowId: string): void {
    this.#send(workflowId, 'suggestion to continue as new', { suggestContinueAsNew: {} });
  }

  /**
   * Ends the current run and begins another at a point of its history, drawn: what is on the log stays, what Temporal knew
   * after that point is gone, signals and updates apart.
   */
  async reset(workflowId: string): Promise<void> {
    const old = this.#current.get(workflowId);
    if (old?.isClosed !== false || old.isStuck || old.history.length < 2) return;
    const { draws, turns } = this.#options;
    const kept = draws.between(1, old.history.length - 1);
    old.close({ status: 'TERMINATED', result: null });
    const run = this.#newRun(old.workflowType, workflowId, old.taskQueue, old);
    turns.say(`${workflowId} is reset to ${kept} of ${old.history.length} as ${run.runId}`);
    await run.replay(old.history.slice(0, kept));
    for (const { job } of old.history.slice(kept))
      if ('signalWorkflow' in job || 'doUpdate' in job) this.#send(workflowId, 'again what it got', job);
  }

  #send(workflowId: string, what: string, job: Job, lost: () => void = () => undefined): void {
    const perform = async () => {
      const run = this.#current.get(workflowId);
      if (!run || run.isClosed || run.isStuck) return lost();
      await run.deliver(job);
    };
    this.#options.turns.add({ kind: 'elsewhere', label: `${workflowId} gets ${what}`, perform });
  }

  /** @param before the run that it takes the place of, or follows. */
  #newRun(
    workflowType: string,
    workflowId: string,
    taskQueue: string,
    before?: Pick<Run, 'firstRunId'> & { seed?: number },
  ): Run {
    this.#runs += 1;
    const runId = `run-${this.#runs}`;
    const { turns, workflows } = this.#options;
    const tasks = this.#tasks;
    if (tasks === null) throw new TypeError('there is nobody to run activities');
    const run: Run = new Run({
      turns,
      tasks,
      workflow: workflows[workflowType],
      workflowType,
      workflowId,
      taskQueue,
      seed: before?.seed ?? this.#runs,
      runId,
      firstRunId: before?.firstRunId ?? runId,
      onUpdate: (id, result) => this.#settleUpdate(id, result),
      onContinue: (args) => {
        const next = this.#newRun(workflowType, workflowId, taskQueue, { firstRunId: run.firstRunId });
        next.tell({ initializeWorkflow: { arguments: args } });
      },
    });
    this.#current.set(workflowId, run);
    return run;
  }

  #settleUpdate(id: string, result: UpdateResult): void {
    this.#updates.get(id)?.(result);
    this.#updates.delete(id);
  }
}
