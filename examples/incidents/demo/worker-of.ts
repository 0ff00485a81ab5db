import type { Client } from '@temporalio/client';
import type { Child } from './processes.ts';

/** The worker that holds the session's agent just now. Workers are known to Temporal as `<pid>@<host>`. */
export async function workerOf(client: Client, session: string, started: readonly Child[]): Promise<Child | null> {
  const { raw } = await client.workflow.getHandle(session).describe();
  const identity = raw.pendingActivities?.[0]?.lastWorkerIdentity ?? '';
  return started.find(({ pid }) => identity.startsWith(`${pid}@`)) ?? null;
}
