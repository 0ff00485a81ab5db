import { type Client, isGrpcServiceError, ServiceError } from '@temporalio/client';
import {
  NamespaceNotFoundError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { SessionLiveError, TemporalUnreachableError, UsageError } from '../contract/errors.ts';
import { AGENT, PHASE } from '../contract/search-attributes.ts';
import { SESSION_WORKFLOW, type SessionInput } from '../contract/session.ts';
import { ensureSearchAttributes } from '../plugin/search-attributes.ts';
import type { WorkflowState, Workflows } from '../ports/workflows.ts';
import { isMissingSearchAttribute } from './search-attributes.ts';

/** How long Temporal has to answer, in milliseconds; the SDK's pause between two tries may add some 3 seconds. */
const PATIENCE_MS = 4_000;

/** gRPC's status codes for a server that is not there, or does not answer in time. */
const GONE = new Set<number>([1, 4, 14]);

/** What gRPC says of a server that is none of its own, such as the Web UI's. */
const NO_GRPC = /HTTP status code|protocol error/i;

/** What Temporal has as status of a workflow that has not ended. */
const OPEN: ReadonlySet<string> = new Set(['RUNNING', 'PAUSED']);

/** Temporal, with every request bounded in time. */
export class Temporal implements Workflows {
  readonly client: Client;
  readonly namespace: string;
  readonly address: string;

  constructor(client: Client) {
    this.client = client;
    this.namespace = client.options.namespace;
    this.address = addressOf(client);
  }

  /**
   * Makes a request.
   *
   * @throws {TemporalUnreachableError} within 10 seconds, naming the address.
   */
  async call<T>(request: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
    try {
      return await this.client.connection.withDeadline(Date.now() + patienceMs, request);
    } catch (error) {
      throw this.#named(error);
    }
  }

  async describe(session: string): Promise<WorkflowState | null> {
    try {
      const { status, runId, raw } = await this.call(() => this.client.workflow.getHandle(session).describe());
      const attempt = raw.pendingWorkflowTask?.attempt ?? 1;
      return { status: status.name, isOpen: OPEN.has(status.name), runId, failedTasks: attempt - 1 };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }

  async start(input: SessionInput, taskQueue: string): Promise<string> {
    const start = () =>
      this.call(() =>
        this.client.workflow.start(SESSION_WORKFLOW, {
          workflowId: input.session,
          taskQueue,
          args: [input],
          workflowIdReusePolicy: input.resume === 0 ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
          workflowIdConflictPolicy: 'FAIL',
          staticSummary: `session of ${input.agent}`,
          typedSearchAttributes: [
            { key: AGENT, value: input.agent },
            { key: PHASE, value: 'running' },
          ],
        }),
      );
    try {
      const handle = await start().catch(async (error: unknown) => {
        if (!isMissingSearchAttribute(error)) throw error;
        await this.call(() => ensureSearchAttributes(this.client.connection, this.namespace));
        return start();
      });
      return handle.firstExecutionRunId;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError)
        throw input.resume === 0 ? new SessionLiveError(input.session) : SessionLiveError.resumed(input.session);
      throw error;
    }
  }

  async terminate(session: string, runId: string, reason: string): Promise<boolean> {
    try {
      await this.call(() => this.client.workflow.getHandle(session, runId).terminate(reason));
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  #named(error: unknown): unknown {
    if (error instanceof NamespaceNotFoundError) {
      const advice = 'create it, or give --namespace or TEMPORAL_NAMESPACE';
      return new UsageError(`Temporal at ${this.address} has no namespace ${this.namespace}; ${advice}.`, {
        address: this.address,
        namespace: this.namespace,
      });
    }
    const grpc = error instanceof ServiceError ? error.cause : error;
    if (isGrpcServiceError(grpc) && (GONE.has(grpc.code) || NO_GRPC.test(grpc.details))) {
      return new TemporalUnreachableError(this.address, { cause: error });
    }
    return error;
  }
}

function addressOf({ connection }: Client): string {
  const { options } = connection as { options?: { address?: unknown } };
  return typeof options?.address === 'string' ? options.address : 'its address';
}
