import type { SessionInput } from '../contract/session.ts';

/** What the workflow engine knows of a session's workflow. */
export interface WorkflowState {
  /** `RUNNING`, `COMPLETED`, `FAILED`, `TERMINATED` … */
  readonly status: string;
  readonly isOpen: boolean;
  readonly runId: string;
  /** How often its current workflow task has failed in a row. */
  readonly failedTasks: number;
}

/** The workflows of one namespace, by session id. */
export interface Workflows {
  readonly namespace: string;
  /** Null where the engine does not know the session (any more). */
  describe(session: string): Promise<WorkflowState | null>;
  /**
   * Starts the workflow of a session. One that is to resume may follow an earlier one, no other may.
   *
   * @returns the run's id.
   * @throws {SessionLiveError} where one runs, or a first start finds an earlier one.
   */
  start(input: SessionInput, taskQueue: string): Promise<string>;
  /** Ends one run at once. False where it is over already. */
  terminate(session: string, runId: string, reason: string): Promise<boolean>;
}
