import { APICallError } from '@ai-sdk/provider';
import type { Generation, StoredGeneration } from '../src/agent/generation.ts';
import { type Ending, type LoopOutcome, next } from '../src/agent/loop.ts';
import type { PinnedAgent } from '../src/agent/shape.ts';
import { BodyTooLargeError, UnserializableValueError } from '../src/contract/errors.ts';
import { type AgentRun, endEntries } from '../src/journal/agent-run.ts';
import { messageOf } from '../src/journal/attempt.ts';
import type { Calls } from '../src/journal/calls.ts';
import { draft, type Entry } from '../src/journal/session-log.ts';
import { timeLimit } from '../src/journal/time-limit.ts';
import { generate } from '../src/models/generate.ts';
import type { Begun } from './begin.ts';
import type { Engine } from './engine.ts';
import type { Pulse } from './pulse.ts';
import { storedGeneration } from './stored-generation.ts';

interface GenerationStep {
  readonly engine: Engine;
  readonly run: AgentRun;
  readonly pinned: PinnedAgent;
  /** Where given, the intents of effects that may run at once are logged along (E3). */
  readonly calls: Calls | null;
  readonly node: number;
  /** Aborted when the generation is not wanted any more. */
  readonly signal: AbortSignal;
  /** Aborted when the worker shuts down: what was asked for is logged, and left to the next worker. */
  readonly released: AbortSignal;
}

/** The generation was not waited for. */
class CutOffError extends Error {
  override readonly name = 'CutOffError';
}

/** The model cannot answer; the agent ends with it. */
class GenerationFailedError extends Error {
  override readonly name = 'GenerationFailedError';
  readonly ending: Ending;
  constructor(reason: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.ending = { phase: 'failed', reason };
  }
}

/**
 * One generation: asked for, made durable with what it asked for (E5), and where it is the final answer the agent's end
 * with it, in one write. A model whose error is final, and a deadline that passes, end the agent. Gives up, and logs
 * nothing, where the pulse says to stop, and where the grace of a shutdown is over (W5).
 */
export async function generateOrEnd(
  engine: Engine,
  begun: Begun,
  pulse: Pulse,
  node: number,
  calls: Calls | null,
): Promise<void> {
  const { run, pinned } = begun;
  pulse.tell({ node, call: 'generation' });
  const { deadlineMs } = pinned.budget;
  const deadline = deadlineMs === null ? null : timeLimit(deadlineMs - run.elapsedMs());
  const { stopped, released, drained } = pulse;
  const signal = AbortSignal.any([stopped, drained, ...(deadline === null ? [] : [deadline.signal])]);
  try {
    await generateNode({ engine, run, pinned, calls, node, signal, released });
  } catch (error) {
    if (stopped.aborted) return;
    if (deadline?.signal.aborted) await run.end({ phase: 'exhausted', reason: 'deadline' });
    else if (error instanceof CutOffError) return;
    else if (error instanceof GenerationFailedError)
      await run.end(error.ending, run.row('bodies', 'detail', error.message));
    else throw error;
  } finally {
    deadline?.clear();
  }
}

async function generateNode(step: GenerationStep): Promise<void> {
  const { engine, run, pinned, calls, node, signal, released } = step;
  const conversation = await engine.sessions.conversation(run);
  const model = engine.models.model(pinned.model);
  const { agent, resume, epoch } = run.id;
  const { prompt } = conversation;
  let generation: Generation;
  try {
    generation = await generate(model, { prompt, tools: pinned.tools, output: pinned.output, signal });
  } catch (error) {
    if (signal.aborted) throw new CutOffError('the generation was not waited for', { cause: error });
    throw new GenerationFailedError(APICallError.isInstance(error) ? 'model-error' : 'model-threw', error);
  }
  const stored = storedGeneration(engine, run.id.agent, pinned, conversation, node, generation);
  const outcome: LoopOutcome = { of: 'generation', ...stored, misfit: stored.misfit !== null };
  const entries = [...snapshotDue(run), ...entriesOf(run, stored, `gen/${agent}/${resume}.${epoch}/${node}`)];
  const after = run.foresee(outcome);
  const action = next(after, pinned.budget, run.elapsedMs());
  if (action.do === 'end') entries.push(...run.resumed(), ...endOf(run, action.ending, stored));
  else if (action.do === 'generate') entries.push(...run.snapshot('node', after));
  else if (action.do === 'calls' && calls && !released.aborted)
    entries.push(...action.calls.filter((call) => call.taskQueue === null).flatMap((call) => calls.intent(call)));
  await run.append(entries);
}

/** The snapshot that calls which ended at the same time, each in an activity of its own, left to the next node (C1). */
const snapshotDue = (run: AgentRun): Entry[] =>
  run.state.node > (run.transcript.boundary?.node ?? 0) ? run.snapshot('node', run.state) : [];

function entriesOf(run: AgentRun, stored: StoredGeneration, id: string): Entry[] {
  const { node, finish, usage } = stored;
  try {
    const row = run.row('messages', 'generation', stored);
    const data = { node, model: run.pinned.model, finish, usage, served: 'fresh', ref: row.ref } as const;
    return [row, draft('GenerationCompleted', run.id.agent, id, data)];
  } catch (error) {
    // Asking again would be paid again, and again.
    if (error instanceof BodyTooLargeError || error instanceof UnserializableValueError)
      throw new GenerationFailedError(error.code, error);
    throw error;
  }
}

function endOf(run: AgentRun, ending: Ending, stored: StoredGeneration): Entry[] {
  const body = {
    ...(stored.answer === null ? {} : { output: run.row('bodies', 'output', stored.answer) }),
    ...(stored.misfit === null ? {} : { detail: run.row('bodies', 'detail', stored.misfit) }),
  };
  return endEntries(run.log, run.id.agent, ending, body);
}
