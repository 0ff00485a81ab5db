import type { CallState, LoopAction } from '../src/agent/loop.ts';
import { next } from '../src/agent/loop.ts';
import type { DispatchInput, DispatchResult } from '../src/contract/activities.ts';
import type { Calls } from '../src/journal/calls.ts';
import { draft, type Entry } from '../src/journal/session-log.ts';
import type { Begun } from './begin.ts';
import { callsOf } from './calls-of.ts';
import type { Engine } from './engine.ts';
import { generateOrEnd } from './generation-step.ts';
import type { Pulse } from './pulse.ts';
import { overtaken, reached, requestOf } from './results.ts';

interface Drive extends Begun {
  readonly engine: Engine;
  readonly input: DispatchInput;
  readonly pulse: Pulse;
  readonly calls: Calls;
  readonly sliceEnds: { readonly node: number; readonly at: number };
}

/** The loop of one slice (W0): acts on what the state machine says until the agent ends, waits, or the slice is over. */
export async function drive(engine: Engine, begun: Begun, input: DispatchInput, pulse: Pulse): Promise<DispatchResult> {
  const { run } = begun;
  const calls = callsOf(engine, run, pulse);
  // A resumed dispatch proves itself in one node, so that AgentResumed is not a whole slice away (W3).
  const nodes = run.transcript.resuming ? 1 : engine.limits.sliceNodes;
  const sliceEnds = { node: run.state.node + nodes, at: performance.now() + engine.limits.sliceTimeMs };
  const driving: Drive = { ...begun, engine, input, pulse, calls, sliceEnds };
  for (;;) {
    const result = await turn(driving, next(run.state, begun.pinned.budget, run.elapsedMs()));
    if (result) return result;
  }
}

async function turn(driving: Drive, action: LoopAction): Promise<DispatchResult | null> {
  const { run, pulse } = driving;
  if (pulse.stopped.aborted || run.log.isFenced(run.author)) return stopped(driving);
  switch (action.do) {
    case 'end':
      if (run.transcript.ending === null) await run.end(action.ending);
      return overtaken(run.log, run.id.agent, run.state.spent);
    case 'generate':
      if (pulse.released.aborted) return leave(driving, 'released', run.snapshot('release', run.state));
      if (isSliceOver(driving)) return leave(driving, 'slice');
      await generateOrEnd(driving.engine, driving, pulse, action.node, driving.calls);
      return run.transcript.ending ? overtaken(run.log, run.id.agent, run.state.spent) : null;
    case 'calls': {
      const here = action.calls.filter((call) => call.taskQueue === null);
      if (here.length === 0) {
        const calls = action.calls.map(requestOf);
        return { kind: 'calls', calls, pauses: run.openPauses(), ...reached(run) };
      }
      const due = pulse.released.aborted ? here.filter(({ call }) => run.intents.has(call)) : here;
      if (due.length === 0) return leave(driving, 'released', run.snapshot('release', run.state));
      await settleAll(driving, due);
      return null;
    }
    case 'wait':
      await run.log.catchUp();
      if (next(run.state, driving.pinned.budget, run.elapsedMs()).do !== 'wait') return null;
      return wait(driving);
    default:
      throw new TypeError(`unknown action ${JSON.stringify(action satisfies never)}`);
  }
}

const isSliceOver = ({ run, sliceEnds }: Drive): boolean =>
  run.state.node >= sliceEnds.node || performance.now() >= sliceEnds.at;

/** Runs calls side by side. One that cannot go on stops the others only when the dispatch itself is at an end. */
async function settleAll({ run, calls, pulse }: Drive, here: readonly CallState[]): Promise<void> {
  pulse.tell({ node: run.state.node, call: here.map(({ tool }) => tool).join(', ') });
  const settled = await Promise.allSettled(here.map((call) => calls.settle(call)));
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed && !pulse.stopped.aborted) throw failed.reason;
}

async function leave(
  { run }: Drive,
  kind: 'slice' | 'released',
  before: readonly Entry[] = [],
): Promise<DispatchResult> {
  if (before.length > 0) await run.append(before);
  return { kind, ...reached(run) };
}

async function wait(driving: Drive): Promise<DispatchResult> {
  const { run } = driving;
  await run.append([waitingDraft(driving)]);
  // One that was answered just before would have to wait for the others.
  if (next(run.state, driving.pinned.budget, run.elapsedMs()).do !== 'wait') return leave(driving, 'slice');
  return { kind: 'waiting', pauses: run.openPauses(), ...reached(run) };
}

function waitingDraft({ run }: Drive) {
  const { agent, resume, epoch, slice } = run.id;
  return draft('AgentLifecycle', agent, `waiting/${agent}/${resume}.${epoch}.${slice}`, { phase: 'waiting' });
}

/** Told to stop: what ran was given its chance and is logged; the workflow logs the agent's end. */
async function stopped({ run, pulse, calls }: Drive): Promise<DispatchResult> {
  if (!pulse.cancelled()) return overtaken(run.log, run.id.agent, run.state.spent);
  await calls.abandon(run.state.calls, 'not begun: the session was cancelled');
  return { kind: 'cancelled', ...reached(run) };
}
