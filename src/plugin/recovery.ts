import type { EffectMode, Finding, FindingCounts } from '../contract/recovery.ts';
import type { Stores } from '../ports/store.ts';
import type { Workflows } from '../ports/workflows.ts';
import { resumeByOperator, type StartedResume } from '../recovery/resume.ts';
import { scan } from '../recovery/scan.ts';
import type { ResolvedConfig } from './config.ts';
import { limitRanges } from './limits.ts';

/** Recovery by hand, with the limits of a config where there is one. */
export interface RecoveryByHand {
  /** Sees to every session that is not over, as a boot scan does (R2). */
  scan(options: { dryRun: boolean; onFound: (finding: Finding) => void | Promise<void> }): Promise<FindingCounts>;
  /** Starts the resume of one session (R4). */
  resume(session: string, options: { effects: EffectMode; takeover: boolean }): Promise<StartedResume>;
}

export function recoveryByHand(
  stores: Stores,
  workflows: Workflows,
  config: Pick<ResolvedConfig, 'limits'> | null,
): RecoveryByHand {
  const heartbeatTimeoutMs = config?.limits.heartbeatTimeoutMs ?? limitRanges.heartbeatTimeout.byDefault;
  const ground = { stores, workflows };
  return {
    scan: (options) => scan(ground, { ...options, heartbeatTimeoutMs }),
    resume: (session, options) => resumeByOperator(ground, session, { ...options, heartbeatTimeoutMs }),
  };
}
