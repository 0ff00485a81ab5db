import { z } from 'zod';
import { defineTool, type ToolDefinition } from '../../../src/agent/tool.ts';
import { ToolOutcomeUnknownError } from '../../../src/contract/errors.ts';
import type { Stage } from '../../../src/crash/scene.ts';

/** An effect as the world outside knows it. */
export interface Deed {
  readonly tool: string;
  readonly key: string;
  readonly what: string;
}

export const TIMEOUT_MS = 4_000;

const input = z.object({ what: z.string() });
type Input = typeof input;
type Options = Omit<ToolDefinition<Input>, 'name' | 'description' | 'input' | 'run'>;

/** What is outside of all workers: it remembers each thing that was really done. */
export class World {
  readonly deeds: Deed[] = [];
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  happened(key: string): boolean {
    return this.deeds.some((deed) => deed.key === key);
  }

  /** Tools of every class, by what becomes of them in doubt. */
  get tools(): ToolDefinition<Input>[] {
    const reconcile: Options['reconcile'] = (_, { key }) =>
      this.happened(key) ? { happened: true, result: `did ${key}` } : { happened: false };
    return [
      this.#read('look'),
      this.#effect('pay', {}),
      this.#effect('post', { idempotent: true }),
      this.#effect('book', { reconcile }),
      this.#effect('tell', { onDoubt: 'tell' }),
      this.#effect('give_up', { onDoubt: 'fail' }),
      this.#effect('sign', { approval: true }),
      this.#effect('retry', { retry: { maximumAttempts: 3, initialInterval: 200 } }),
      this.#effect('far', { taskQueue: 'far' }),
      this.#effect('far_book', { taskQueue: 'far', reconcile }),
    ];
  }

  #read(name: string): ToolDefinition<Input> {
    const run = ({ what }: z.output<Input>) => this.#remote(() => `saw ${what} of ${name}`);
    return defineTool({ name, description: 'looks', input, effect: 'read', timeout: TIMEOUT_MS, run });
  }

  #effect(name: string, options: Options): ToolDefinition<Input> {
    const run: ToolDefinition<Input>['run'] = async ({ what }, { key }) => {
      if (this.#stage.random() < 0.1) throw new Error(`${name} is refused`);
      const did = await this.#remote(() => this.#do({ tool: name, key, what }));
      if (this.#stage.random() < 0.05) throw new ToolOutcomeUnknownError('the answer is lost');
      return did;
    };
    return defineTool({ name, description: 'does', input, timeout: TIMEOUT_MS, ...options, run });
  }

  #do(deed: Deed): string {
    const isRepeat = deed.tool === 'post' && this.happened(deed.key);
    if (!isRepeat) this.deeds.push(deed);
    return `did ${deed.key}`;
  }

  /** At once, after a while, or just too late. */
  #remote<T>(serve: () => T): Promise<T> {
    const { random, remote } = this.#stage;
    const drawn = random();
    if (drawn < 0.5) return remote(random() * 5, serve);
    return remote(drawn < 0.9 ? random() * 1_000 : random() * (TIMEOUT_MS + 300), serve);
  }
}
