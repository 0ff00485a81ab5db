import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { RECOVERY_ID, RECOVERY_TICK_WORKFLOW, RECOVERY_WORKFLOW } from '../contract/recovery.ts';

/** A scan, or a wait for one, that a queue without workers does not end in this time is given up: others may ask again. */
const LONGEST_RUN = '1 hour';

/**
 * Asks for a boot scan, and that there be one every so often (R1). One scan runs at a time, whoever asks; the pool that asked last
 * runs those that the schedule asks for.
 *
 * @param everyMs null: no schedule, and one that is there stays as it is.
 */
export async function askForScans(client: Client, taskQueue: string, everyMs: number | null): Promise<void> {
  if (everyMs !== null) await keepSchedule(client, taskQueue, everyMs);
  await client.workflow.start(RECOVERY_WORKFLOW, {
    workflowId: RECOVERY_ID,
    taskQueue,
    args: [{}],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowRunTimeout: LONGEST_RUN,
    staticSummary: 'boot scan',
  });
}

async function keepSchedule({ schedule }: Client, taskQueue: string, everyMs: number): Promise<void> {
  const spec = { intervals: [{ every: everyMs }] };
  const action = {
    type: 'startWorkflow',
    workflowType: RECOVERY_TICK_WORKFLOW,
    workflowId: `${RECOVERY_ID}-tick`,
    taskQueue,
    workflowRunTimeout: LONGEST_RUN,
  } as const;
  const policies = { overlap: ScheduleOverlapPolicy.SKIP };
  try {
    await schedule.create({ scheduleId: RECOVERY_ID, spec, action, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await schedule.getHandle(RECOVERY_ID).update(({ state }) => ({ spec, action, policies, state }));
  }
}
