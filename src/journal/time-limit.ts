/** The longest that a timer of Node waits, in milliseconds; what is longer it takes for none at all. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Call it when the limit is not needed any more: its timer would be kept until the time is over, and then abort. */
  clear(): void;
}

/** Aborts after a time in milliseconds, of whatever size. */
export function timeLimit(ms: number): TimeLimit {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The time is over.', 'TimeoutError'));
  const timer = setTimeout(abort, Math.min(Math.max(0, Math.ceil(ms)), LONGEST_TIMER_MS)).unref();
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
