import {
  ActivityCancellationType,
  type ActivityInterfaceFor,
  type ActivityOptions,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { ApomeshActivities } from '../src/contract/activities.ts';

/** Far above what a slice may take: death is heartbeat silence, not this (W2). */
const LONGEST_ACTIVITY = '7 days';

/**
 * The activities that drive an agent. Never tried again by Temporal: the workflow decides what a failure means (W3). On
 * cancellation they are waited for, as they log what they were doing.
 */
export const driving = (
  heartbeatTimeoutMs: number,
  options: ActivityOptions,
): ActivityInterfaceFor<ApomeshActivities> =>
  proxyActivities<ApomeshActivities>({
    startToCloseTimeout: LONGEST_ACTIVITY,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { maximumAttempts: 1 },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    ...options,
  });

/** Appends of the coordinator's own, one at a time (`SessionState.alone`): idempotent, so they may run again (L2). */
export const coordinating = (): ActivityInterfaceFor<ApomeshActivities> =>
  proxyLocalActivities<ApomeshActivities>({
    startToCloseTimeout: '1 minute',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
  });
