import type { BodyTable } from '../ports/store.ts';
import { type BodyRef, bodyRef, type Envelope } from '../session/envelopes.ts';

/** A body that an event points at. */
export interface PointedBody {
  readonly seq: number;
  readonly table: BodyTable;
  readonly ref: BodyRef;
}

/** Every body that an event points at, wherever in its data the reference stands. */
export function bodyRefsOf(event: Envelope): PointedBody[] {
  const table = tableOf(event.type);
  return refsIn(event.data).map((ref) => ({ seq: event.seq, table, ref }));
}

function tableOf(type: Envelope['type']): BodyTable {
  if (type === 'GenerationCompleted' || type === 'ToolCallCompleted') return 'messages';
  return type === 'AgentSnapshot' ? 'snapshots' : 'bodies';
}

const onlyRef = bodyRef.strict();

function refsIn(value: unknown): BodyRef[] {
  if (typeof value !== 'object' || value === null) return [];
  const parsed = onlyRef.safeParse(value);
  return parsed.success ? [parsed.data] : Object.values(value).flatMap(refsIn);
}
