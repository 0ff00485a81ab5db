import { APICallError } from '@ai-sdk/provider';
import { retryWithExponentialBackoff } from '@ai-sdk/provider-utils';

/** How often a model that failed for a passing reason is asked again. */
export interface ModelRetry {
  /** Attempts in all, the first one included. Default 3. */
  readonly maximumAttempts?: number;
  /** Milliseconds before the second attempt; doubled for each further one. Default 2000. */
  readonly initialIntervalMs?: number;
}

/** A server may ask for a wait up to this long. */
const LONGEST_WAIT_MS = 60_000;

/** Whether an error of a model may pass: the AI SDK's own flag, which its gateway's errors carry as well. */
export function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'isRetryable' in error && error.isRetryable === true;
}

/**
 * Asks a model, and again where its error is retryable by the AI SDK's flag, after the wait the server asked for or an
 * exponential backoff. Other errors, and the last one, are thrown as they are.
 */
export async function withRetry<T>(ask: () => PromiseLike<T>, signal: AbortSignal, retry: ModelRetry = {}): Promise<T> {
  const { maximumAttempts = 3, initialIntervalMs = 2000 } = retry;
  let last: unknown;
  const run = retryWithExponentialBackoff({
    maxRetries: maximumAttempts - 1,
    initialDelayInMs: initialIntervalMs,
    abortSignal: signal,
    shouldRetry: isRetryable,
    getDelayInMs: ({ error, exponentialBackoffDelay }) =>
      waitAskedFor(error, exponentialBackoffDelay) ?? exponentialBackoffDelay,
    createRetryError: () => last,
  });
  const asked = async () => {
    try {
      return await ask();
    } catch (error) {
      last = error;
      throw error;
    }
  };
  try {
    return await run(asked);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Milliseconds of `retry-after-ms` or `retry-after`, where it is a sensible wait. */
function waitAskedFor(error: unknown, backoffMs: number): number | null {
  const failed = [error, error instanceof Error ? error.cause : undefined].find((e) => APICallError.isInstance(e));
  const headers = APICallError.isInstance(failed) ? (failed.responseHeaders ?? {}) : {};
  const millis = Number.parseFloat(headers['retry-after-ms'] ?? '');
  const after = headers['retry-after'] ?? '';
  const seconds = Number.parseFloat(after);
  const wait = [millis, seconds * 1000, Math.max(0, Date.parse(after) - Date.now())].find((ms) => !Number.isNaN(ms));
  return wait !== undefined && wait >= 0 && wait < Math.max(LONGEST_WAIT_MS, backoffMs) ? wait : null;
}
