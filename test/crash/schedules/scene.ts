import { defineAgent } from '../../../src/agent/agent.ts';
import type { Answer } from '../../../src/contract/session.ts';
import type { CrashEnd, CrashScene, Stage } from '../../../src/crash/scene.ts';
import { type ScriptStep, scriptedModel } from '../../../src/models/scripted.ts';
import type { OpenPauseView } from '../../../src/session/view.ts';
import { World } from './world.ts';

const MOST_NODES = 4;
const MOST_CALLS = 3;
const CHECKPOINT = 'checkpoint_now';

/** A session of a few nodes, each with calls of any kind side by side, some of them the very same. */
export function scene(stage: Stage): CrashScene {
  const { random } = stage;
  const world = new World(stage);
  const tools = [...world.tools.map(({ name }) => name), CHECKPOINT];
  const below = (n: number) => Math.floor(random() * n);
  const script = Array.from({ length: 1 + below(MOST_NODES) }, (): ScriptStep => {
    const calls = Array.from({ length: 1 + below(MOST_CALLS) }, () => {
      const tool = tools[below(tools.length)] as string;
      return { tool, args: tool === CHECKPOINT ? {} : { what: 'abc'[below(3)] as string } };
    });
    const [first] = calls;
    return { text: 'next', calls: first && random() < 0.2 ? [...calls, first] : calls };
  });
  const say = (_: unknown, { node }: { readonly node: number }): ScriptStep => {
    if (random() < 0.01) throw new Error('the model is gone');
    return script[node] ?? { text: 'done' };
  };
  return {
    config: {
      models: { m: scriptedModel(say, { latencyMs: below(3) * 100 }) },
      tools: world.tools,
      agents: [
        defineAgent({
          name: 'a',
          model: 'm',
          instructions: 'Play.',
          tools,
          dispatch: random() < 0.7 ? 'loop' : 'call',
          ...(random() < 0.1 ? { budget: { deadline: 1_000 + below(20_000) } } : {}),
        }),
      ],
      limits: { heartbeatTimeout: 3_000, doubtGrace: 2_000, sliceNodes: 1 + below(4) },
    },
    agent: 'a',
    answer: (pause) => answerTo(pause, random),
    check: (end) => twice(end, world),
  };
}

function answerTo({ accepts }: OpenPauseView, random: () => number): Omit<Answer, 'pause'> {
  const decision = accepts[Math.floor(random() * accepts.length)] ?? 'approve';
  if (decision === 'edit') return { decision, args: { what: 'edited' } };
  return decision === 'happened' ? { decision, result: 'as a person says' } : { decision, by: 'ann' };
}

/** Nothing happened twice without a person's word, and what is recorded as done was done. */
function twice({ events }: CrashEnd, { deeds }: World): string[] {
  const broken: string[] = [];
  const happened = new Map<string, number>();
  for (const { key } of deeds) happened.set(key, (happened.get(key) ?? 0) + 1);
  const keyOf = new Map<string, string>();
  const allowed = new Map<string, number>();
  for (const { type, data } of events) {
    if (type === 'PauseRaised' && data.key) keyOf.set(data.pause, data.key);
    const key = type === 'PauseAnswered' ? keyOf.get(data.pause) : undefined;
    if (key && type === 'PauseAnswered' && data.decision === 'retry') allowed.set(key, (allowed.get(key) ?? 1) + 1);
    if (key && type === 'PauseAnswered' && data.decision === 'happened') happened.set(key, happened.get(key) ?? 0);
    if (type !== 'ToolCallCompleted' || data.class !== 'effect' || data.outcome !== 'ok') continue;
    if (!happened.has(data.key)) broken.push(`${data.tool} ${data.key} is recorded as done, and was not`);
  }
  for (const [key, times] of happened) {
    const { tool } = deeds.find((deed) => deed.key === key) ?? {};
    if (times > (allowed.get(key) ?? 1)) broken.push(`${tool} ${key} happened ${times} times`);
  }
  return broken;
}
