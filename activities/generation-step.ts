import { APICallError } from '@ai-sdk/provider';
import type { Generation, StoredCall, StoredGeneration } from '../src/agent/generation.ts';
import type { Ending, LoopOutcome } from '../src/agent/loop.ts';
import type { PinnedAgent } from '../src/agent/shape.ts';
import { BodyTooLargeError } from '../src/contract/errors.ts';
import { type AgentRun, endEntries } from '../src/journal/agent-run.ts';
import { messageOf } from '../src/journal/attempt.ts';
import type { Calls } from '../src/journal/calls.ts';
import { draft, type Entry } from '../src/journal/session-log.ts';
import { type Conversation, callName } from '../src/models/conversation.ts';
import { generate } from '../src/models/generate.ts';
import { checkOutput } from '../src/models/output.ts';
import { bodyDigest } from '../src/session/digest.ts';
import { effectKey } from '../src/session/keys.ts';
import type { Begun } from './begin.ts';
import type { Engine } from './engine.ts';
import type { Pulse } from './pulse.ts';

interface GenerationStep {
  readonly engine: Engine;
  readonly run: AgentRun;
  readonly conversation: Conversation;
  readonly pinned: PinnedAgent;
  /** Where given, the intents of effects that may run at once are logged along (E3). */
  readonly calls: Calls | null;
  readonly node: number;
  /** Aborted when the generation is not wanted any more. */
  readonly signal: AbortSignal;
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
 * with it, in one write. A model whose error is final, and a deadline that passes, end the agent. Gives up where the
 * pulse says to stop.
 */
export async function generateOrEnd(
  engine: Engine,
  begun: Begun,
  pulse: Pulse,
  node: number,
  calls: Calls | null,
): Promise<void> {
  const { run, memory, pinned } = begun;
  pulse.tell({ node, call: 'generation' });
  const conversation = engine.sessions.conversation(memory, run.id.agent, pinned);
  const { deadlineMs } = pinned.budget;
  const deadline = deadlineMs === null ? [] : [AbortSignal.timeout(Math.max(0, deadlineMs - run.elapsedMs()))];
  const signal = AbortSignal.any([pulse.stopped, ...deadline]);
  try {
    await generateNode({ engine, run, conversation, pinned, calls, node, signal });
  } catch (error) {
    if (pulse.stopped.aborted) return;
    if (signal.aborted) await run.end({ phase: 'exhausted', reason: 'deadline' });
    else if (error instanceof GenerationFailedError)
      await run.end(error.ending, { detail: run.row('bodies', 'detail', error.message) });
    else throw error;
  }
}

async function generateNode(step: GenerationStep): Promise<void> {
  const { engine, run, conversation, pinned, calls, node, signal } = step;
  await conversation.extend(run.transcript.messages, run.bodies);
  const model = engine.models.model(pinned.model);
  const { agent, resume, epoch } = run.id;
  const { prompt } = conversation;
  let generation: Generation;
  try {
    generation = await generate(model, { prompt, tools: pinned.tools, output: pinned.output, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new GenerationFailedError(APICallError.isInstance(error) ? 'model-error' : 'model-threw', error);
  }
  const stored = await storedOf(step, generation);
  const outcome: LoopOutcome = { of: 'generation', ...stored, misfit: stored.misfit !== null };
  const entries = entriesOf(run, stored, `gen/${agent}/${resume}.${epoch}/${node}`);
  const after = run.foresee(outcome);
  if (after.ending !== null) entries.push(...run.resumed(), ...endOf(run, after.ending, stored));
  else if (after.calls.length === 0) entries.push(...run.snapshot('node', after));
  else if (calls)
    entries.push(...after.calls.filter((call) => call.taskQueue === null).flatMap((call) => calls.intent(call)));
  await run.append(entries);
}

function entriesOf(run: AgentRun, stored: StoredGeneration, id: string): Entry[] {
  const { node, finish, usage } = stored;
  try {
    const row = run.row('messages', 'generation', stored);
    const data = { node, model: run.pinned.model, finish, usage, served: 'fresh', ref: row.ref } as const;
    return [row, draft('GenerationCompleted', run.id.agent, id, data)];
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new GenerationFailedError(error.code, error);
    throw error;
  }
}

function endOf(run: AgentRun, ending: Ending, stored: StoredGeneration): Entry[] {
  const body = stored.answer === null ? {} : { output: run.row('bodies', 'output', stored.answer) };
  return endEntries(run.log, run.id.agent, ending, body);
}

async function storedOf(
  { engine, run, conversation, pinned, node }: GenerationStep,
  made: Generation,
): Promise<StoredGeneration> {
  const { content, finish } = made;
  const { inputTokens = 0, outputTokens = 0, costUsd } = made.usage;
  const cost = costUsd ?? engine.models.cost(pinned.model, { inputTokens, outputTokens });
  const usage = { inputTokens, outputTokens, ...(cost === undefined ? {} : { costUsd: cost }) };
  const counts = new Map<string, number>();
  const calls = made.calls.map((asked, index): StoredCall => {
    const { id, tool: name, args: input } = asked;
    const args = bodyDigest(input);
    const same = callName(name, args);
    const before = counts.get(same) ?? 0;
    counts.set(same, before + 1);
    const tool = pinned.tools.some((pinnedTool) => pinnedTool.name === name) ? engine.tools.tool(name) : null;
    const problem = asked.problem ?? (tool ? tool.check(input) : noSuchTool(name, pinned));
    return {
      id,
      input,
      call: `${node}.${index}`,
      tool: name || '(none)',
      class: tool?.class ?? 'effect',
      key: effectKey({ agent: run.id.agent, tool: name, args: input, n: conversation.asked(same) + before }),
      args,
      approval: problem === null && tool !== null && tool.approval(input),
      taskQueue: problem !== null || tool?.taskQueue === engine.taskQueue ? null : (tool?.taskQueue ?? null),
      timeoutMs: tool?.timeoutMs ?? 0,
      problem,
    };
  });
  const { misfit, answer } =
    calls.length > 0 ? { misfit: null, answer: null } : checkOutput(made.text, finish, pinned.output);
  return { v: 1, node, content, finish, usage, calls, misfit, answer };
}

const noSuchTool = (name: string, pinned: PinnedAgent): string =>
  `there is no tool ${JSON.stringify(name)}; there is ${pinned.tools.map((tool) => tool.name).join(', ') || 'none'}`;
