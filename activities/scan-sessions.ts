import { Context } from '@temporalio/activity';
import { toFailure } from '../src/contract/errors.ts';
import {
  addCounts,
  type Finding,
  type FindingCounts,
  type ScanInput,
  type ScanPage,
} from '../src/contract/recovery.ts';
import { scanPage } from '../src/recovery/scan.ts';
import { isListed } from '../src/session/recovery.ts';
import type { Engine } from './engine.ts';

/** A third of what the recovery workflow allows. */
const BEAT_MS = 20_000;

/** One page of the boot scan (R2). What nobody can read is loud: an error in the worker's log, and counted as a metric. */
export const scanSessions =
  ({ stores, workflows, limits }: Engine) =>
  async ({ after }: ScanInput): Promise<ScanPage> => {
    const { log, metricMeter, cancellationSignal, heartbeat } = Context.current();
    const counter = metricMeter.createCounter(
      'apomesh_recovery_findings',
      'sessions',
      'What boot scans found, by class',
    );
    let counts: FindingCounts = {};
    const onFound = (finding: Finding) => {
      const { session, class: found, why } = finding;
      counts = addCounts(counts, { [found]: 1 });
      counter.add(1, { class: found });
      if (found === 'unreadable') log.error(`session ${session} is unreadable: ${why}`, { session, why });
      else if (isListed(found)) log.warn(`session ${session} is left for an operator (${found}): ${why}`, { session });
    };
    const beat = setInterval(heartbeat, BEAT_MS);
    const { heartbeatTimeoutMs } = limits;
    try {
      const ground = { stores, workflows };
      const next = await scanPage(ground, { after, heartbeatTimeoutMs, onFound, signal: cancellationSignal });
      return { next, counts };
    } catch (error) {
      throw toFailure(error);
    } finally {
      clearInterval(beat);
    }
  };
