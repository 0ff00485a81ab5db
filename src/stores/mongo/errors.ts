import {
  MongoError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';
import { ConfigInvalidError, StoreUnknownError, StoreUnreachableError } from '../../contract/errors.ts';

export const DUPLICATE_KEY = 11_000;

/** What no waiting changes: unauthorized, wrong credentials (MongoDB's and Atlas's), no such command. */
const REFUSALS = new Set<unknown>([13, 18, 8000, 59]);

/** Not the primary (any more), shutting down, network trouble between nodes, no majority, out of time. */
const TRANSIENT = new Set<unknown>([
  6, 7, 50, 64, 89, 91, 134, 189, 262, 317, 358, 384, 9001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

/** What Node says of a connection that the other side has ended, which the driver at times passes on as it is. */
const ENDED = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

const isEnded = (error: unknown): error is Error =>
  error instanceof Error && !(error instanceof MongoError) && 'code' in error && ENDED.has(error.code);

/**
 * An error of a write: nothing is known of what it left behind, unless it says so itself (L6).
 *
 * @param first whether nothing of the same rows was sent before.
 */
export function writeError(error: unknown, address: string, first: boolean): unknown {
  const isKnown = !(error instanceof MongoError || isEnded(error)) || error instanceof MongoInvalidArgumentError;
  if (isKnown) return error;
  const refusal = first ? refusalOf(error, address) : null;
  if (refusal !== null) return refusal;
  if (first && error instanceof MongoServerSelectionError) return new StoreUnreachableError(address, { cause: error });
  return new StoreUnknownError(`it is not known what MongoDB at ${address} wrote: ${error.message}`, { cause: error });
}

/** An error of a read, or of a write to the registry, which may be made again. */
export function readError(error: unknown, address: string): unknown {
  if (isEnded(error)) return new StoreUnreachableError(address, { cause: error });
  if (!(error instanceof MongoError)) return error;
  const refusal = refusalOf(error, address);
  if (refusal !== null) return refusal;
  return isTransient(error) ? new StoreUnreachableError(address, { cause: error }) : error;
}

/** An error of the first connection, before which nothing can have been written. */
export function connectError(error: unknown, address: string): unknown {
  return refusalOf(error, address) ?? new StoreUnreachableError(address, { cause: error });
}

function isTransient(error: MongoError): boolean {
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoWriteConcernError ||
    error instanceof MongoOperationTimeoutError ||
    (error instanceof MongoServerError && TRANSIENT.has(error.code))
  );
}

function refusalOf(error: unknown, address: string): ConfigInvalidError | null {
  if (!(error instanceof MongoServerError) || !REFUSALS.has(error.code)) return null;
  return new ConfigInvalidError('mongo', `MongoDB at ${address} refuses: ${error.message}`);
}
