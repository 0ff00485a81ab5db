import { type Client, isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { TemporalUnreachableError, UsageError } from '../contract/errors.ts';

/** How long Temporal has to answer, in milliseconds; the SDK's pause between two tries may add some 3 seconds. */
const PATIENCE_MS = 4_000;

/** gRPC's status codes for a server that is not there, or does not answer in time. */
const GONE = new Set<number>([1, 4, 14]);

/** What gRPC says of a server that is none of its own, such as the Web UI's. */
const NO_GRPC = /HTTP status code|protocol error/i;

/** What Temporal knows of a session. */
export interface WorkflowState {
  /** `RUNNING`, `COMPLETED`, `FAILED`, `TERMINATED` … */
  readonly status: string;
}

/** Temporal, with every request bounded in time. */
export class Temporal {
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

  /** Null where Temporal does not know the session (any more). */
  async describe(session: string): Promise<WorkflowState | null> {
    try {
      const { status } = await this.call(() => this.client.workflow.getHandle(session).describe());
      return { status: status.name };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
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
