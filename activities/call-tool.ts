import type { CallInput, CallResult } from '../src/contract/activities.ts';
import type { Begun } from './begin.ts';
import { callsOf } from './calls-of.ts';
import type { Engine } from './engine.ts';
import type { Pulse } from './pulse.ts';
import { reached } from './results.ts';
import { within } from './within.ts';

/** Runs one call of the current node. One that has its outcome is served from the record (E3). */
export const callTool =
  (engine: Engine) =>
  (input: CallInput): Promise<CallResult> =>
    within(
      engine,
      input,
      () => [],
      (begun, pulse) => settleOne(engine, begun, pulse, input.call),
    );

async function settleOne(engine: Engine, { run }: Begun, pulse: Pulse, id: string): Promise<CallResult> {
  const call = run.state.calls.find(({ call }) => call === id);
  pulse.tell({ node: run.state.node, call: call?.tool ?? id });
  const open = call && call.outcome === null && call.paused === null;
  if (open && pulse.released.aborted) return { kind: 'released', ...reached(run) };
  try {
    if (open) await callsOf(engine, run, pulse).settle(call);
  } catch (error) {
    if (!pulse.stopped.aborted) throw error;
  }
  const done = run.outcomeOf(id);
  if (done) return { kind: 'called', call: id, outcome: done, ...reached(run) };
  const pause = run.openPauses().find((open) => open.call === id);
  if (pause) return { kind: 'paused', pause, ...reached(run) };
  return { kind: 'cancelled', ...reached(run) };
}
