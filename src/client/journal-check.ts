import type { Envelope } from '../session/envelopes.ts';

/** A place of a log where the effect journal does not add up. */
export interface JournalFault {
  readonly seq: number;
  readonly problem: string;
}

/** What the intents and outcomes of a log add up to. */
export interface EffectCounts {
  /** Distinct effect keys with an intent. */
  readonly intents: number;
  /** Those of them with an outcome. */
  readonly outcomes: number;
  /** Outcomes beyond the first of a key. */
  readonly duplicates: number;
  /** Those without. */
  readonly open: number;
}

/**
 * Checks the effect journal of a log (E3): an outcome is recorded once a key, and what ran has its intent before it. Where rows are
 * missing, nothing is said of what they may have held.
 */
export function checkJournal(log: readonly Envelope[]): { faults: JournalFault[]; effects: EffectCounts } {
  const faults: JournalFault[] = [];
  const started = new Set<string>();
  const completed = new Map<string, number>();
  const ids = new Map<string, number>();
  let duplicates = 0;
  for (const [index, event] of log.entries()) {
    const { seq, id } = event;
    const isAllBefore = seq === index;
    const before = ids.get(id);
    if (before === undefined) ids.set(id, seq);
    else faults.push({ seq, problem: `the id ${id} is that of seq ${before} too` });
    if (event.type === 'ToolCallStarted' && event.data.class === 'effect') {
      const first = completed.get(event.data.key);
      if (first !== undefined)
        faults.push({ seq, problem: `the effect ${event.data.key} is begun after its outcome at seq ${first}` });
      started.add(event.data.key);
    }
    if (event.type !== 'ToolCallCompleted' || event.data.class !== 'effect') continue;
    const { key, outcome, served } = event.data;
    const first = completed.get(key);
    if (served === 'journal') {
      if (first === undefined && isAllBefore)
        faults.push({ seq, problem: `the effect ${key} is served from a record that is not there` });
      continue;
    }
    if (first !== undefined) {
      duplicates += 1;
      faults.push({ seq, problem: `the effect ${key} has its outcome at seq ${first} already` });
    }
    const ran = outcome === 'ok' || outcome === 'unknown';
    if (ran && isAllBefore && !started.has(key))
      faults.push({ seq, problem: `the effect ${key} has an outcome and no intent before it` });
    completed.set(key, first ?? seq);
  }
  const outcomes = [...started].filter((key) => completed.has(key)).length;
  const intents = started.size;
  return { faults, effects: { intents, outcomes, duplicates, open: intents - outcomes } };
}
