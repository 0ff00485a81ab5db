import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineAgent } from '../../src/agent/agent.ts';
import { defineTool } from '../../src/agent/tool.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import { bodyDigest } from '../../src/session/digest.ts';
import type { Place } from './moments.ts';

export const STEPS = 12;

/** A line of a session's file. `text` depends on all that the model was told; the rest are stamps. */
export interface Line {
  readonly text: string;
  readonly key: string;
  readonly at: string;
  readonly pid: number;
}

const fileOf = (folder: string, session: string): string => join(folder, `${session}.lines`);

export function linesOf(folder: string, session: string): Line[] {
  const file = fileOf(folder, session);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

const args = z.object({ session: z.string(), step: z.int(), text: z.string() });

export interface WorkOptions {
  /** Where the sessions' files are. */
  readonly folder: string;
  /** Time-out of the effect, in milliseconds. */
  readonly timeoutMs: number;
  /** Milliseconds of each generation and read, and of an effect before and after it happens. Default 30. */
  readonly paceMs?: number;
  /** Told where a session has got to. */
  readonly reached: (session: string, place: Place, at: number) => void;
}

/** The work of all sessions: twelve steps of a generation and an effect that must not run twice, every third with a read. */
export function workConfig({ folder, timeoutMs, paceMs = 30, reached }: WorkOptions): ApomeshConfig {
  const write = defineTool({
    name: 'write',
    description: 'Adds a line.',
    effect: 'effect',
    timeout: timeoutMs,
    input: args,
    run: async ({ session, step, text }, { key }) => {
      reached(session, 'effect begun', step);
      await sleep(paceMs);
      const line: Line = { text, key, at: new Date().toISOString(), pid: process.pid };
      appendFileSync(fileOf(folder, session), `${JSON.stringify(line)}\n`);
      reached(session, 'effect done', step);
      await sleep(paceMs);
      return placeOf(folder, session, key);
    },
    reconcile: ({ session }, { key }) => {
      const result = placeOf(folder, session, key);
      return result.line === 0 ? { happened: false } : { happened: true, result };
    },
  });
  const read = defineTool({
    name: 'read',
    description: 'Reads the lines before a step.',
    effect: 'read',
    input: args,
    run: async ({ session, step }) => {
      reached(session, 'read', step);
      await sleep(paceMs);
      const lines = linesOf(folder, session);
      return lines.slice(0, step - 1).map(({ text }) => text);
    },
  });
  const model = scriptedModel(async (prompt, { node }) => {
    const session = goalIn(prompt);
    const step = node + 1;
    reached(session, 'generation', step);
    await sleep(paceMs);
    const text = `${step} after ${bodyDigest(told(prompt)).slice(0, 20)}`;
    if (step > STEPS) return { text };
    const tools = step % 3 === 0 ? ['write', 'read'] : ['write'];
    return { calls: tools.map((tool) => ({ tool, args: { session, step, text } })) };
  });
  const agents = (['loop', 'call'] as const).map((dispatch) =>
    defineAgent({ name: dispatch, model: 'work', instructions: 'Work.', tools: ['write', 'read'], dispatch }),
  );
  return {
    models: { work: model },
    tools: [write, read],
    agents,
    limits: { heartbeatTimeout: '1.5s', stickyQueueTimeout: '500ms', doubtGrace: '500ms', sliceNodes: 4 },
  };
}

/** Which line the key has: 0 where it has none. */
const placeOf = (folder: string, session: string, key: string) => ({
  line: linesOf(folder, session).findIndex((line) => line.key === key) + 1,
});

function goalIn(prompt: LanguageModelV4Prompt): string {
  const [part] = prompt.find(({ role }) => role === 'user')?.content ?? [];
  if (typeof part !== 'object' || part.type !== 'text') throw new Error('the prompt has no goal');
  return part.text;
}

/** The tools' results that the model is shown, in their order. */
const told = (prompt: LanguageModelV4Prompt): string[] =>
  prompt.flatMap((message) =>
    message.role === 'tool' ? message.content.map((part) => ('output' in part ? JSON.stringify(part.output) : '')) : [],
  );
