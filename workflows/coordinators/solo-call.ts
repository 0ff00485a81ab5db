import { apply, type LoopState, next } from '../../src/agent/loop.ts';
import type { CallResult, GenerateResult } from '../../src/contract/activities.ts';
import { coordinating, driving } from '../activities.ts';
import { attempt, isOvertaken } from '../attempt.ts';
import { show } from '../details.ts';
import { breathe, untilAnswered } from '../pace.ts';
import type { Driven, SessionState } from '../state.ts';
import { runCalls } from './calls.ts';
import { endRoot } from './end.ts';

/** Drives the root with each generation and tool call as an activity of its own (W0): the same state machine, the same log. */
export async function driveByCall(state: SessionState): Promise<Driven> {
  for (;;) {
    await breathe(state);
    takeAnswers(state);
    const driven = await turn(state, state.loop);
    if (driven) return driven;
    show(state);
  }
}

async function turn(state: SessionState, loop: LoopState): Promise<Driven | null> {
  const action = next(loop, state.input.budget, Date.now() - state.input.startedAt);
  switch (action.do) {
    case 'end':
      return endRoot(state, action.ending);
    case 'generate': {
      const activities = driving(state.input.heartbeatTimeoutMs, {
        summary: `generate ${state.input.agent} ${action.node}`,
      });
      const result = await attempt(state, 'generate', (dispatch) => activities.generate(dispatch));
      if (!result) return null;
      state.reach(result);
      return followGeneration(state, loop, result);
    }
    case 'calls': {
      const results = await runCalls(state, action.calls);
      return results.map((result) => followCall(state, result)).find((driven) => driven !== null) ?? null;
    }
    case 'wait':
      return wait(state, action.pauses);
    default:
      throw new TypeError(`unknown action ${JSON.stringify(action satisfies never)}`);
  }
}

function followGeneration(state: SessionState, loop: LoopState, result: GenerateResult): Driven | null {
  switch (result.kind) {
    case 'generated':
      state.loop = apply(loop, { of: 'generation', ...result });
      return null;
    case 'ended':
    case 'cancelled':
    case 'released':
    case 'fenced':
      return followOther(state, result);
    default:
      throw new TypeError(`unknown result ${JSON.stringify(result satisfies never)}`);
  }
}

function followCall(state: SessionState, result: CallResult): Driven | null {
  switch (result.kind) {
    case 'called':
      state.loop = apply(state.loop, { of: 'call', call: result.call, outcome: result.outcome });
      return null;
    case 'paused':
      state.addPause(result.pause);
      if (result.pause.call !== null)
        state.loop = apply(state.loop, {
          of: 'pause',
          call: result.pause.call,
          pause: result.pause.pause,
        });
      return null;
    case 'ended':
    case 'cancelled':
    case 'released':
    case 'fenced':
      return followOther(state, result);
    default:
      throw new TypeError(`unknown result ${JSON.stringify(result satisfies never)}`);
  }
}

type Other = Extract<GenerateResult | CallResult, { kind: 'ended' | 'cancelled' | 'released' | 'fenced' }>;

function followOther(state: SessionState, result: Other): Driven | null {
  if (result.kind === 'ended')
    return { of: 'ended', result: { phase: result.phase, reason: result.reason, output: result.output } };
  if (result.kind === 'cancelled') return { of: 'cancelled' };
  if (result.kind === 'fenced' && isOvertaken(state, result)) return { of: 'overtaken' };
  return null;
}

async function wait(state: SessionState, pauses: readonly string[]): Promise<Driven | null> {
  if (!pauses.some((pause) => state.isAnswered(pause))) {
    state.reach(await state.alone(() => coordinating().parkAgent(state.ownAct())));
    state.phase = 'waiting';
    show(state);
  }
  if (!(await untilAnswered(state, pauses))) return endRoot(state, { phase: 'exhausted', reason: 'deadline' });
  state.phase = 'running';
  return null;
}

/** Puts accepted answers into the loop's state. */
function takeAnswers(state: SessionState): void {
  for (const { pause, decision } of state.answers) state.loop = apply(state.loop, { of: 'answer', pause, decision });
  state.setPauses(state.pauses);
}
