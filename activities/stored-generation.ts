import type { Generation, StoredCall, StoredGeneration } from '../src/agent/generation.ts';
import type { PinnedAgent } from '../src/agent/shape.ts';
import { messageOf } from '../src/journal/attempt.ts';
import { type Conversation, callName } from '../src/models/conversation.ts';
import { checkOutput } from '../src/models/output.ts';
import type { Tool } from '../src/ports/tools.ts';
import { bodyDigest } from '../src/session/digest.ts';
import type { Usage } from '../src/session/envelopes.ts';
import type { Json } from '../src/session/json.ts';
import { effectKey } from '../src/session/keys.ts';
import type { Engine } from './engine.ts';

/** Far above the names that tools have. */
const LONGEST_NAME = 128;

/** What is kept of a generation: the answer, and of each call its key, its gate, and what is wrong with it. */
export function storedGeneration(
  engine: Engine,
  agent: string,
  pinned: PinnedAgent,
  conversation: Conversation,
  node: number,
  made: Generation,
): StoredGeneration {
  const inBatch = new Map<string, number>();
  const calls = made.calls.map((asked, index): StoredCall => {
    const { id, args: input } = asked;
    const name = loggedName(asked.tool);
    const args = bodyDigest(input);
    const same = callName(name, args);
    const before = inBatch.get(same) ?? 0;
    inBatch.set(same, before + 1);
    const seen = pinned.tools.find((tool) => tool.name === name);
    const tool = seen ? engine.tools.tool(name) : null;
    const problem = asked.problem ?? (tool ? problemOf(tool, input) : noSuchTool(asked.tool, pinned));
    const here = problem !== null || tool === null || tool.taskQueue === engine.taskQueue;
    return {
      id,
      input,
      call: `${node}.${index}`,
      tool: name,
      class: seen?.class ?? 'effect',
      key: effectKey({ agent, tool: name, args: input, n: conversation.asked(same) + before }),
      args,
      approval: problem === null && tool !== null && needsApproval(engine, tool, input),
      taskQueue: here ? null : tool.taskQueue,
      timeoutMs: tool?.timeoutMs ?? 0,
      problem,
    };
  });
  const { content, finish } = made;
  const final = calls.length > 0 ? { misfit: null, answer: null } : checkOutput(made.text, finish, pinned.output);
  return { v: 1, node, content, finish, usage: usageOf(engine, pinned, made.usage), calls, ...final };
}

/** The name of a tool as events and timelines carry it: a model may ask for any text at all (L3). */
const loggedName = (asked: string): string => asked.slice(0, LONGEST_NAME).toWellFormed() || '(none)';

function usageOf({ models }: Engine, pinned: PinnedAgent, usage: Usage): Usage {
  const { inputTokens = 0, outputTokens = 0 } = usage;
  const costUsd = usage.costUsd ?? models.cost(pinned.model, { inputTokens, outputTokens });
  return { inputTokens, outputTokens, ...(costUsd === undefined ? {} : { costUsd }) };
}

function problemOf(tool: Tool, args: Json): string | null {
  try {
    return tool.check(args)?.toWellFormed() ?? null;
  } catch (error) {
    return `the arguments could not be checked: ${messageOf(error)}`;
  }
}

/** A predicate that throws has not said that nobody need be asked. */
function needsApproval({ log }: Engine, tool: Tool, args: Json): boolean {
  try {
    return tool.approval(args);
  } catch (error) {
    log(`approval of ${tool.name} threw, so a person is asked: ${messageOf(error)}`);
    return true;
  }
}

const noSuchTool = (name: string, pinned: PinnedAgent): string =>
  `there is no tool ${JSON.stringify(name)}; there is ${pinned.tools.map((tool) => tool.name).join(', ') || 'none'}`;
