/** The longest that a timer of Node waits, in milliseconds; what is longer it takes for none at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Aborts after a time in milliseconds, of whatever size. */
export const timeLimit = (ms: number): AbortSignal =>
  AbortSignal.timeout(Math.min(Math.max(0, Math.ceil(ms)), LONGEST_TIMER_MS));
