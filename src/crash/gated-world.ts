import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { asyncLocalStorage } from '@temporalio/activity';
import type { Models } from '../ports/models.ts';
import type { Tool, Tools } from '../ports/tools.ts';
import type { Json } from '../session/json.ts';
import type { Process } from './process.ts';
import type { Turns } from './turns.ts';
import type { Witness } from './witness.ts';

/** One run of a tool. */
export interface ToolRun {
  readonly tool: string;
  readonly key: string;
  readonly args: Json;
  readonly session: string;
  readonly process: string;
  readonly at: number;
  /** It may run again: a read, or a tool that honours keys. */
  readonly isRepeatable: boolean;
  readonly timeoutMs: number;
  /** What it came to; `lost` where its process did not live to see it. */
  outcome: 'lost' | 'ok' | 'threw';
}

/** What a tool said of an effect in doubt. */
export interface Asked {
  readonly key: string;
  readonly happened: boolean | 'unknown';
}

/** One question to a model. */
export interface Prompted {
  readonly process: string;
  readonly at: number;
  readonly prompt: LanguageModelV4Prompt;
}

/** The tools and models as each process has them: what they do waits for its turn, and is noted. */
export class GatedWorld {
  readonly runs: ToolRun[] = [];
  readonly asked: Asked[] = [];
  readonly prompts: Prompted[] = [];
  readonly #turns: Turns;
  readonly #witness: Witness;
  readonly #tools: Tools;
  readonly #models: Models;
  readonly #isReal: boolean;

  constructor(turns: Turns, witness: Witness, tools: Tools, models: Models, isReal: boolean) {
    this.#turns = turns;
    this.#witness = witness;
    this.#tools = tools;
    this.#models = models;
    this.#isReal = isReal;
  }

  of(process: Process): { tools: Tools; models: Models } {
    const tool = (name: string) => {
      const found = this.#tools.tool(name);
      return found && this.#gatedTool(found, process);
    };
    const model = (name: string) => this.#gatedModel(this.#models.model(name), process);
    const tools = this.#tools;
    return {
      tools: { names: tools.names, tool, resolve: (names) => tools.resolve(names), close: () => tools.close() },
      models: { ...this.#models, model },
    };
  }

  #gatedTool(tool: Tool, process: Process): Tool {
    const { reconcile } = tool;
    const run: Tool['run'] = async (args, context) => {
      const { key, session } = context;
      process.effects += tool.class === 'effect' ? 1 : 0;
      try {
        await this.#turns.pass(process, 'run', `begins ${tool.name} ${short(key)}`);
        const run = this.#begun(tool, key, args, session, process);
        const ended = await this.#work(() => tool.run(args, context)).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
        await this.#turns.pass(process, 'run', `ends ${tool.name} ${short(key)}`);
        run.outcome = 'error' in ended ? 'threw' : 'ok';
        if ('error' in ended) throw ended.error;
        return ended.value;
      } finally {
        process.effects -= tool.class === 'effect' ? 1 : 0;
      }
    };
    const gated: Tool['reconcile'] =
      reconcile &&
      (async (args, context) => {
        await this.#turns.pass(process, 'run', `asks ${tool.name} about ${short(context.key)}`);
        const found = await this.#work(() => reconcile(args, context));
        this.asked.push({ key: context.key, happened: found === 'unknown' ? found : found.happened });
        await this.#turns.pass(process, 'run', `hears from ${tool.name}`);
        return found;
      });
    return { ...tool, run, reconcile: gated };
  }

  #work<T>(work: () => Promise<T>): Promise<T> {
    return this.#isReal ? this.#turns.work(work) : work();
  }

  #begun(tool: Tool, key: string, args: Json, session: string, process: Process): ToolRun {
    if (tool.class === 'effect' && !this.#witness.isIntended(session, key))
      this.#witness.broken.push(`E3: ${tool.name} ${key} is begun before its intent is durable`);
    const isRepeatable = tool.class === 'read' || tool.idempotent;
    const at = Date.now();
    const run: ToolRun = {
      tool: tool.name,
      key,
      args,
      session,
      process: process.id,
      at,
      isRepeatable,
      timeoutMs: tool.timeoutMs,
      outcome: 'lost',
    };
    this.runs.push(run);
    return run;
  }

  #gatedModel(model: LanguageModelV4, process: Process): LanguageModelV4 {
    const doGenerate: LanguageModelV4['doGenerate'] = async (call) => {
      const context = asyncLocalStorage.getStore();
      if (context?.cancellationDetails?.cancelRequested)
        this.#witness.broken.push('F3: a generation is asked for after the activity was told to cancel');
      await this.#turns.pass(process, 'run', 'asks the model');
      call.abortSignal?.throwIfAborted();
      this.prompts.push({ process: process.id, at: Date.now(), prompt: structuredClone(call.prompt) });
      const answer = await this.#work(async () => model.doGenerate(call));
      await this.#turns.pass(process, 'run', 'hears from the model');
      return answer;
    };
    return { ...model, doGenerate };
  }
}

const short = (key: string): string => key.slice('sha256:'.length, 'sha256:'.length + 8);
