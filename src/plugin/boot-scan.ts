import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  type ScheduleOptionsStartWorkflowAction,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { type Workflow, WorkflowNotFoundError } from '@temporalio/common';
import { tsToDate } from '@temporalio/common/lib/time.js';
import { RECOVERY_ID, RECOVERY_TICK_WORKFLOW, RECOVERY_WORKFLOW, VERSIONED } from '../contract/recovery.ts';

/** A scan, or a wait for one, that a queue without workers does not end in this time is given up: others may ask again. */
const LONGEST_RUN = '1 hour';

/** The longest that a schedule is gone unnoticed, in milliseconds. */
const LOOK_MS = 60_000;

export interface BootScansOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly everyMs: number;
  /** The pool's workers are versioned. */
  readonly versioned: boolean;
  readonly warn: (message: string) => void;
}

/**
 * A worker's part in the boot scans (R1): asks for one at its start, and that there be one every so often, by a schedule. One scan
 * runs at a time, whoever asks; the pool that asked last runs those that the schedule asks for. A Temporal that has lost the schedule
 * has lost the workflows too: whoever finds it gone asks as at a start, and whoever finds that no scan was run for long takes it over.
 */
export class BootScans {
  readonly #client: Client;
  readonly #taskQueue: string;
  readonly #everyMs: number;
  readonly #memo: Record<string, unknown>;
  readonly #warn: BootScansOptions['warn'];
  #timer: NodeJS.Timeout | undefined;

  constructor({ client, taskQueue, everyMs, versioned, warn }: BootScansOptions) {
    this.#client = client;
    this.#taskQueue = taskQueue;
    this.#everyMs = everyMs;
    this.#memo = versioned ? { [VERSIONED]: true } : {};
    this.#warn = warn;
  }

  /** Sessions can be run without: what cannot be asked for now is asked for later. */
  async start(): Promise<void> {
    const look = () => this.#mend().catch((error: unknown) => this.#warn(`boot scans are not looked after: ${error}`));
    this.#timer = setInterval(look, Math.min(this.#everyMs, LOOK_MS)).unref();
    try {
      if (!(await this.#createSchedule())) await this.#updateSchedule();
      await this.#ask();
    } catch (error) {
      this.#warn(`no boot scan could be asked for: ${error}`);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #mend(): Promise<void> {
    if (!(await this.#createSchedule())) {
      if (!(await this.#isNeglected())) return;
      // The queue that the schedule or an open scan is bound to may have no workers any more: from here on it is this one's.
      await this.#updateSchedule();
      await this.#client.workflow.getHandle(RECOVERY_ID).terminate('no worker took it').catch(ignoreNotFound);
    }
    await this.#ask();
  }

  /** Whether scans are due for long that nobody runs. */
  async #isNeglected(): Promise<boolean> {
    const patienceMs = Math.max(3 * this.#everyMs, LOOK_MS);
    const isLongAgo = (at: Date, ms: number) => Date.now() - at.getTime() > ms;
    try {
      const { status, startTime, closeTime, raw } = await this.#client.workflow.getHandle(RECOVERY_ID).describe();
      if (status.name !== 'RUNNING') return isLongAgo(closeTime ?? startTime, patienceMs);
      const untaken = (raw.pendingActivities ?? []).filter(({ lastStartedTime }) => !lastStartedTime);
      return [raw.pendingWorkflowTask, ...untaken].some(
        (task) => task?.scheduledTime && isLongAgo(tsToDate(task.scheduledTime), LOOK_MS),
      );
    } catch (error) {
      ignoreNotFound(error);
      return true;
    }
  }

  async #ask(): Promise<void> {
    await this.#client.workflow.start(RECOVERY_WORKFLOW, {
      workflowId: RECOVERY_ID,
      taskQueue: this.#taskQueue,
      args: [{}],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowRunTimeout: LONGEST_RUN,
      memo: this.#memo,
      staticSummary: 'boot scan',
    });
  }

  get #schedule(): Omit<
    ScheduleOptions<ScheduleOptionsStartWorkflowAction<Workflow>>,
    'scheduleId' | 'memo' | 'state'
  > {
    return {
      spec: { intervals: [{ every: this.#everyMs }] },
      action: {
        type: 'startWorkflow',
        workflowType: RECOVERY_TICK_WORKFLOW,
        workflowId: `${RECOVERY_ID}-tick`,
        taskQueue: this.#taskQueue,
        workflowRunTimeout: LONGEST_RUN,
        memo: this.#memo,
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
    };
  }

  /** False where there is one. */
  async #createSchedule(): Promise<boolean> {
    try {
      await this.#client.schedule.create({ scheduleId: RECOVERY_ID, ...this.#schedule });
      return true;
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      return false;
    }
  }

  async #updateSchedule(): Promise<void> {
    await this.#client.schedule.getHandle(RECOVERY_ID).update(({ state }) => ({ ...this.#schedule, state }));
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
