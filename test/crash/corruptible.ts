import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { z } from 'zod';
import { bodyRefsOf } from '../../src/client/body-refs.ts';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import { filesOf, loadPin } from '../../src/pins/open.ts';
import type { Stores } from '../../src/ports/store.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';
import type { Doc, Target } from './damage.ts';

const modes = ['loop', 'call'] as const;
/** How a session stands: over, or waiting for a person. */
const states = ['over', 'waiting'] as const;
type State = (typeof states)[number];

const TABLES = [
  'events',
  'messages',
  'bodies',
  'snapshots',
  'pins',
  'files',
  'dispatches',
  'effects',
  'sessions',
  'completed',
  'recoverable',
] as const;

/** Columns that tell when and how much there is to be swept, and nothing of a session. */
const HOUSEKEEPING: Readonly<Record<string, readonly string[]>> = { pins: ['at'], files: ['at', 'bytes'] };

/** A session with rows in every table. */
export interface Corruptible {
  readonly id: string;
  readonly state: State;
  readonly rows: ReadonlyMap<string, readonly Doc[]>;
}

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ to: z.string() }),
  approval: ({ to }) => to === 'eve',
  run: ({ to }) => `${to} is paid`,
});

const agentOf = (mode: (typeof modes)[number], n: number) =>
  defineAgent({
    name: `${mode}-${n}`,
    model: 'goals',
    instructions: `Pay them all (${n}).`,
    tools: ['pay'],
    skills: [skillOf(n)],
    dispatch: mode,
  });

const skillOf = (n: number): string => `paying-${n}`;

/** Writes a skill of its own for each session, with a file beside it. */
function writeSkills(folder: string, count: number): void {
  for (let n = 0; n < count; n++) {
    const skill = join(folder, skillOf(n));
    mkdirSync(join(skill, 'references'), { recursive: true });
    writeFileSync(
      join(skill, 'SKILL.md'),
      `---\nname: ${skillOf(n)}\ndescription: How to pay (${n}).\n---\n\nPay slowly (${n}).\n`,
    );
    writeFileSync(join(skill, 'references', 'rates.bin'), Buffer.from([0xff, n, 0, 1, 2]));
  }
}

/** Runs sessions, `each` of them in every state and mode: each has its own pin, has made effects, and was answered. */
export async function runCorruptible(
  stores: Stores,
  skills: string,
  each: number,
): Promise<{ pool: Pool; handles: Map<SessionHandle, State> }> {
  const all = states.flatMap((state) => modes.map((mode) => ({ state, mode })));
  // Those that are alike come together.
  const kinds = all.flatMap((kind) => Array.from({ length: each }, () => kind));
  const agents = kinds.map(({ mode }, n) => agentOf(mode, n));
  writeSkills(skills, kinds.length);
  const pool = await startPool({ models: { goals: goalModel().model }, tools: [pay], agents, skills }, { stores });
  const handles = new Map<SessionHandle, State>();
  await Promise.all(
    kinds.map(async ({ state }, n) => {
      const both = calls(['pay', { to: 'ann' }], ['pay', { to: 'eve' }]);
      const session = await pool.start(agents[n]?.name ?? '', goalOf(both, both, { text: `paid ${n}` }));
      handles.set(session, state);
      const open = async (count: number) => (await session.pauses()).length === count && session.pauses();
      const [first] = await until('it asks', () => open(1));
      await session.answer(first?.pause ?? '', { decision: 'approve', by: 'bob' });
      const again = async () => {
        const [pause] = await session.pauses();
        return pause && pause.pause !== first?.pause && pause;
      };
      const second = await until('it asks again', again);
      if (state === 'waiting') return;
      await session.answer(second.pause, { decision: 'reject', reason: 'No more.' });
      await session.output();
    }),
  );
  return { pool, handles };
}

/** Adds what recovery and lost workers leave behind, and reads all rows. */
export async function rowsOf(
  db: Db,
  stores: Stores,
  { id, state }: { id: string; state: State },
): Promise<Corruptible> {
  const agent = `${id}/root-1`;
  const late = {
    session: id,
    agent,
    call: '1.0',
    tool: 'pay',
    key: 'sha256:k',
    epoch: 0,
    outcome: 'ok',
    at: new Date(0).toISOString(),
  };
  await stores.write([{ into: 'effects', id: `${agent}#0.0.0/1.0/late`, ...late, json: `"${id} is paid"` }]);
  await stores.list({ session: id, class: 'side-effects', why: `${id} has made effects.`, at: late.at });
  const log = await stores.read(id);
  const [first] = log;
  if (first?.type !== 'SessionStarted') throw new Error(`session ${id} has no SessionStarted`);
  const pinned = await loadPin(stores, first.data.pin);
  const digests = { pins: [first.data.pin.digest], files: filesOf(pinned).map(({ digest }) => digest) };
  const pointed = new Set(log.flatMap(bodyRefsOf).map(({ table, ref }) => `${table}/${id}/${ref.digest}`));
  const rows = new Map<string, readonly Doc[]>();
  for (const table of TABLES) {
    const isSealed = table === 'pins' || table === 'files';
    const filter = isSealed ? { _id: { $in: digests[table] } } : { $or: [{ session: id }, { _id: id }] };
    const docs = await db.collection<Doc>(table).find(filter).sort({ _id: 1 }).toArray();
    const isBody = table === 'messages' || table === 'bodies' || table === 'snapshots';
    // A body that no event points at is none of the session's.
    rows.set(
      table,
      docs.filter(({ _id }) => !isBody || pointed.has(`${table}/${_id}`)),
    );
  }
  return { id, state, rows };
}

/** What of a session can be damaged. */
export function targetsOf(
  { state, rows }: Corruptible,
  all: readonly Corruptible[],
): ReadonlyMap<string, readonly Target[]> {
  const targets = new Map<string, readonly Target[]>();
  for (const [table, docs] of rows) {
    const others = all.flatMap((one) => one.rows.get(table) ?? []);
    const of = (doc: Doc): Target => ({
      table,
      doc,
      columns: Object.keys(doc).filter((name) => !HOUSEKEEPING[table]?.includes(name)),
      others: others.filter((other) => other !== doc),
      isMissed: isMissed(table, state, docs),
    });
    if (docs.length > 0) targets.set(table, docs.map(of));
  }
  return targets;
}

/**
 * Whether a row that is gone must be missed. The record of a session that is over is made again from its log; late evidence and
 * decisions stand for themselves; claims are for a session that goes on, and tell of a dispatch by any of its slices.
 */
function isMissed(table: string, state: State, docs: readonly Doc[]): boolean {
  if (table === 'completed' || table === 'effects' || table === 'recoverable') return false;
  return table !== 'dispatches' || (state === 'waiting' && docs.length === 1);
}
