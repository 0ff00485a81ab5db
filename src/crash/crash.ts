import type { MakeScene } from './scene.ts';

export interface CrashOptions {
  /** How many schedules are played. */
  readonly runs: number;
  /** The first one's seed; the next ones follow it. Default: drawn anew each time. */
  readonly seed?: number;
  /** Called after each schedule. */
  readonly onPlayed?: (played: CrashRun) => void;
}

/** One schedule, played. */
export interface CrashRun {
  readonly seed: number;
  /** What does not hold, in words; empty where all does. */
  readonly broken: readonly string[];
  /** What happened, a line each: milliseconds, process, step, and what befell it. The same seed gives the same lines. */
  readonly trace: readonly string[];
  /** How many faults and incidents there were. */
  readonly faults: number;
}

/**
 * Plays sessions of a scene under seeded crash schedules: two workers run the real activities, journal and workflow over
 * stores in memory; workers crash before and after any step, freeze and come back, are cut off, shut down; answers of the
 * store are lost; workflows are reset; people answer late, twice and wrongly. Checked after each: no acknowledged event is
 * lost, no effect is begun twice without a person's word, every session comes to an end, the log folds alike from any point.
 *
 * Time is virtual, and one schedule is played at a time. It needs a process of its own: `Date`, `performance.now` and the timers of the
 * whole process are replaced meanwhile, and nothing may have loaded `@temporalio/workflow` before. Not for Jest, which hides
 * the real modules: spawn a program that calls this.
 *
 * @returns the schedules that broke something, in order; none is good news. Give one's `seed` and `runs: 1` to play it again.
 */
export async function crashSchedules(make: MakeScene, options: CrashOptions): Promise<CrashRun[]> {
  const { runs, seed = freshSeed(), onPlayed } = options;
  // Nobody pays for the runtime of workflows who plays no schedule.
  const { playSchedule } = await import('./schedule.ts');
  const broken: CrashRun[] = [];
  for (let i = 0; i < runs; i += 1) {
    const played = { ...(await playSchedule(String(seed + i), make)), seed: seed + i };
    if (played.broken.length > 0) broken.push(played);
    onPlayed?.(played);
  }
  return broken;
}

/** A seed that was hardly used before. */
const freshSeed = (): number => Date.now() % 1_000_000_000;
