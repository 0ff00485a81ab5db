import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { HeartbeatDetails } from '../../src/contract/activities.ts';

/** A workflow's history as Temporal keeps it. */
export interface History {
  readonly events: number;
  readonly bytes: number;
  /** All text in it, payloads decoded. */
  readonly text: string;
}

export async function historyOf(client: Client, session: string): Promise<History> {
  const handle = client.workflow.getHandle(session);
  const [{ historyLength, historySize = 0 }, history] = await Promise.all([handle.describe(), handle.fetchHistory()]);
  return { events: historyLength, bytes: historySize, text: textOf(history) };
}

/** What the pending activities of a session say that they do. */
export async function beatsOf(client: Client, session: string): Promise<readonly HeartbeatDetails[]> {
  const { raw } = await client.workflow.getHandle(session).describe();
  const payloads = raw.pendingActivities?.map(({ heartbeatDetails }) => heartbeatDetails?.payloads?.[0]) ?? [];
  return payloads.flatMap((payload) =>
    payload ? [defaultPayloadConverter.fromPayload<HeartbeatDetails>(payload)] : [],
  );
}

/** All text of a message of the protocol, whatever it is nested in. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, item]) => `${key}\n${textOf(item)}`)
    .join('\n');
}
