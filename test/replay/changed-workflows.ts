import { sleep } from '@temporalio/workflow';
import type { SessionInput } from '../../src/contract/session.ts';
import * as workflows from '../../workflows/index.ts';

export const { apomeshRecoveryTick } = workflows;

/** Workflows that do something that those which run did not. */
export async function apomeshSession(input: SessionInput) {
  await sleep(1);
  return workflows.apomeshSession(input);
}

export async function apomeshRecovery(...input: Parameters<typeof workflows.apomeshRecovery>) {
  await sleep(1);
  return workflows.apomeshRecovery(...input);
}
