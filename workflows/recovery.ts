import { type WorkflowDefinitionOptions, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  continueAsNew,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { ApomeshActivities } from '../src/contract/activities.ts';
import {
  addCounts,
  type FindingCounts,
  RECOVERY_ID,
  RECOVERY_WORKFLOW,
  type RecoveryInput,
  VERSIONED,
} from '../src/contract/recovery.ts';

/** Pages of one run, so that its history stays short. */
const PAGES = 50;

const { scanSessions } = proxyActivities<ApomeshActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** The boot scan (R1, R2), page by page. Completes with how many sessions of each class there are. */
export async function apomeshRecovery({ carried }: RecoveryInput = {}): Promise<FindingCounts> {
  let { after = null, counts = {} } = carried ?? {};
  show(counts, after);
  for (let pages = 1; ; pages += 1) {
    const page = await scanSessions({ after });
    counts = addCounts(counts, page.counts);
    after = page.next;
    show(counts, after);
    if (after === null) return counts;
    if (pages >= PAGES || workflowInfo().continueAsNewSuggested)
      return continueAsNew<typeof apomeshRecovery>({ carried: { after, counts } });
  }
}

/** What Temporal's schedule starts: one scan, unless one runs already. */
export async function apomeshRecoveryTick(): Promise<void> {
  try {
    await executeChild(RECOVERY_WORKFLOW, {
      workflowId: RECOVERY_ID,
      args: [{} satisfies RecoveryInput],
      memo: workflowInfo().memo ?? {},
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** On versioned workers a scan is not bound to the build that began it. Others may not say so. */
function unbound(): WorkflowDefinitionOptions {
  const { memo, currentDeploymentVersion } = workflowInfo();
  const isVersioned = memo?.[VERSIONED] === true && Boolean(currentDeploymentVersion?.deploymentName);
  return isVersioned ? { versioningBehavior: 'AUTO_UPGRADE' } : {};
}
setWorkflowOptions(unbound, apomeshRecovery);
setWorkflowOptions(unbound, apomeshRecoveryTick);

function show(counts: FindingCounts, after: string | null): void {
  const rows = Object.entries(counts).map(([found, count]) => `| ${found} | ${count} |`);
  const progress = after === null ? '' : `\n\nSeen up to session \`${after.replaceAll('`', "'")}\`.`;
  const table =
    rows.length === 0 ? 'No session is unfinished, so far.' : ['| class | sessions |', '|---|---|', ...rows].join('\n');
  setCurrentDetails(`**Boot scan**\n\n${table}${progress}`);
}
