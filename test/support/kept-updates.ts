import type { Client } from '@temporalio/client';
import type { Stores } from '../../src/ports/store.ts';
import type { Envelope } from '../../src/session/envelopes.ts';

/** How many updates Temporal had kept of a session just before an event was written, by session. */
export interface KeptUpdates {
  readonly stores: Stores;
  readonly counts: ReadonlyMap<string, number>;
}

/** Looks before each event that is of interest. */
export function keptUpdates(
  stores: Stores,
  client: () => Client,
  isOfInterest: (event: Envelope) => boolean,
): KeptUpdates {
  const counts = new Map<string, number>();
  const write: Stores['write'] = async (rows) => {
    for (const row of rows) {
      if (row.into !== 'events' || !isOfInterest(row.envelope)) continue;
      const { session } = row.envelope;
      const { events } = await client().workflow.getHandle(session).fetchHistory();
      const kept = (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
      counts.set(session, kept.length);
    }
    return stores.write(rows);
  };
  return { stores: { ...stores, write }, counts };
}
