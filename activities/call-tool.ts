import type { CallInput, CallResult } from '../src/contract/activities.ts';
import type { AgentRun } from '../src/journal/agent-run.ts';
import type { Calls } from '../src/journal/calls.ts';
import type { EventDraft } from '../src/session/envelopes.ts';
import type { Begun } from './begin.ts';
import { callsOf } from './calls-of.ts';
import type { Engine } from './engine.ts';
import type { Pulse } from './pulse.ts';
import { reached } from './results.ts';
import { within } from './within.ts';

/** Runs one call of the current node. One that has its outcome is served from the record (E3). */
export const callTool =
  (engine: Engine) =>
  (input: CallInput): Promise<CallResult> => {
    let made: Calls | null = null;
    const callsFor = (run: AgentRun, pulse: Pulse): Calls => {
      made ??= callsOf(engine, run, pulse);
      return made;
    };
    return within(
      engine,
      input,
      ({ tools }) => tools.filter(({ name }) => name === input.tool),
      (begun, pulse) => settleOne(begun, pulse, callsFor(begun.run, pulse), input.call),
      (run, pulse) => intentOf(engine, run, pulse, callsFor(run, pulse), input.call),
    );
  };

const callOf = (run: AgentRun, id: string) => run.state.calls.find(({ call }) => call === id);

/** The intent of a call that nothing has happened to yet, to be logged with the claim on it. */
function intentOf({ tools }: Engine, run: AgentRun, pulse: Pulse, calls: Calls, id: string): EventDraft[] {
  const call = callOf(run, id);
  const untouched = call && call.outcome === null && call.paused === null && call.decisions.length === 0;
  if (!untouched || pulse.released.aborted || pulse.stopped.aborted || tools.tool(call.tool) === null) return [];
  const isStarted = run.transcript.tail.some(
    (event) => event.type === 'ToolCallStarted' && event.data.key === call.key,
  );
  return isStarted ? [] : calls.intent(call);
}

async function settleOne({ run }: Begun, pulse: Pulse, calls: Calls, id: string): Promise<CallResult> {
  const call = callOf(run, id);
  pulse.tell({ node: run.state.node, call: call?.tool ?? id });
  const open = call && call.outcome === null && call.paused === null;
  if (open && pulse.released.aborted && !run.intents.has(id)) return { kind: 'released', ...reached(run) };
  try {
    if (open && pulse.cancelled()) await calls.abandon([call], 'not begun: the session was cancelled');
    else if (open && !pulse.stopped.aborted) await calls.settle(call);
  } catch (error) {
    if (!pulse.stopped.aborted) throw error;
  }
  const done = run.outcomeOf(id);
  if (done) return { kind: 'called', call: id, outcome: done, ...reached(run) };
  const pause = run.openPauses().find((open) => open.call === id);
  if (pause) return { kind: 'paused', pause, ...reached(run) };
  return { kind: pulse.stopped.aborted ? 'cancelled' : 'released', ...reached(run) };
}
