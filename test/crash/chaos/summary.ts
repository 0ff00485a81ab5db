import type { ChaosReport } from './chaos.ts';
import { countBy } from './invariants.ts';

/** A run in a few lines. */
export function summaryOf({ seed, evidence, broken, disturbances, accidents, troubles, folder }: ChaosReport): string {
  const events = evidence.flatMap(({ log }) => log);
  const ends = evidence.map(({ log, listed }) => {
    const last = log.at(-1);
    return listed?.class ?? (last?.type === 'AgentLifecycle' ? last.data.phase : 'open');
  });
  const pauses = events.flatMap(({ type, data }) => (type === 'PauseRaised' ? [data.kind] : []));
  const causes = events.flatMap(({ type, data }) => (type === 'SessionResumed' ? [data.cause] : []));
  const intents = evidence.reduce((sum, { verification }) => sum + verification.effects.intents, 0);
  const deeds = evidence.flatMap((one) => one.deeds);
  const lines = [
    ['seed', `${seed}`],
    ['went wrong', textOf(Object.entries(disturbances))],
    ['workers ended', textOf(Object.entries(accidents))],
    ['sessions', textOf(countBy(ends))],
    ['events', `${events.length}, ${events.filter(({ type }) => type === 'AgentResuming').length} agents taken over`],
    ['effects', `${intents} intended, ${deeds.length} done, of ${new Set(deeds.map(({ key }) => key)).size} keys`],
    ['pauses', textOf(countBy(pauses))],
    ['resumes', textOf(countBy(causes))],
    ['people met', textOf(Object.entries(troubles.counts))],
    ['broken', broken.length === 0 ? 'nothing' : `${broken.length}; the logs are in ${folder}`],
  ];
  return [...lines.map(([what, text]) => `${what?.padEnd(14)}${text}`), ...broken].join('\n');
}

const textOf = (counts: Iterable<[string, number]>): string =>
  [...counts].map(([what, count]) => `${count} ${what}`).join(', ') || 'none';
