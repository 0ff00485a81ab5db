import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

/** A workflow's history as Temporal keeps it. */
export interface History {
  readonly events: number;
  readonly bytes: number;
  /** All text in it, payloads decoded. */
  readonly text: string;
}

const { History: HistoryMessage } = temporal.api.history.v1;

export async function historyOf(client: Client, session: string, runId?: string): Promise<History> {
  const history = await client.workflow.getHandle(session, runId).fetchHistory();
  const { events = [] } = history;
  const bytes = HistoryMessage.encode(history).finish().byteLength;
  return { events: events?.length ?? 0, bytes, text: textOf(history) };
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
