import { expect } from '@jest/globals';
import type { Envelope } from '../../src/session/envelopes.ts';
import type { Followed, Stage } from './stage.ts';
import { linesOf, STEPS } from './work.ts';

const ofType = <T extends Envelope['type']>(log: readonly Envelope[], type: T) =>
  log.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

/** What a session's work came to, stamps apart. */
export async function workOf({ folder }: Stage, { session }: Followed) {
  return { output: await session.output(), lines: linesOf(folder, session.id).map(({ text }) => text) };
}

/** That a session went its way as if nothing had happened, and its record shows what did. Gives how often it lost its worker. */
export async function expectWhole(stage: Stage, followed: Followed, undisturbed: unknown): Promise<number> {
  const { session, seen } = followed;
  const { id } = session;
  const log = await session.events();
  // Terminal, the observer missed nothing, and what any worker was told is logged is there.
  expect({ id, phase: log.at(-1)?.data }).toMatchObject({ phase: { phase: 'completed' } });
  expect(seen).toEqual(log);
  const places = stage.acknowledged(id);
  expect(places.filter(({ seq, id }) => log[seq]?.id !== id)).toEqual([]);
  expect(places.length).toBeGreaterThan(0);
  // The same work, each line once, each by an effect with an intent and one outcome.
  expect(await workOf(stage, followed)).toEqual(undisturbed);
  const keys = linesOf(stage.folder, id).map(({ key }) => key);
  expect(new Set(keys).size).toBe(STEPS);
  const completed = ofType(log, 'ToolCallCompleted').filter(({ data }) => data.class === 'effect');
  expect(completed.map(({ data }) => [data.key, data.outcome])).toEqual(keys.map((key) => [key, 'ok']));
  expect(new Set(ofType(log, 'ToolCallStarted').map(({ data }) => data.key))).toEqual(new Set(keys));
  expect(ofType(log, 'GenerationCompleted').map(({ data }) => data.node)).toEqual(range(STEPS + 1));
  expect(await session.verify()).toMatchObject({
    ok: true,
    problems: [],
    effects: { intents: STEPS, outcomes: STEPS, duplicates: 0, open: 0 },
  });
  // The same agent throughout, under fences that grow.
  expect(new Set(log.map(({ agent }) => agent))).toEqual(new Set([`${id}/root-1`]));
  const epochs = ofType(log, 'AgentResuming').map(({ data }) => data.epoch);
  expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b));
  const writers = log.map(({ writer }) => writer?.epoch ?? 0);
  expect(writers).toEqual(writers.toSorted((a, b) => a - b));
  // What came too late is evidence, and not what was logged.
  for (const { key, epoch } of await stage.stores.evidence(id)) {
    const served = completed.find(({ data }) => data.key === key);
    expect(served?.writer?.epoch).toBeGreaterThan(epoch);
  }
  return epochs.length;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
