import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../../src/agent/agent.ts';
import { defineTool, type ToolOptions } from '../../../src/agent/tool.ts';
import type { ApomeshConfig } from '../../../src/plugin/config.ts';
import { goalModel } from '../../support/script.ts';
import { Ledger } from './ledger.ts';

/** Time-out of an effect in milliseconds, and what is added to it before one in doubt may run again. */
export const TIMEOUT_MS = 4_000;
const GRACE_MS = 500;

/** Effects, by what becomes of one in doubt. Those that can say whether they happened are `sure`. */
const effects: Readonly<Record<string, Omit<ToolOptions, 'approval'> & { sure?: boolean; approval?: true }>> = {
  post: { sure: true },
  put: { idempotent: true },
  pay: { onDoubt: 'ask' },
  mail: { onDoubt: 'tell' },
  ping: { onDoubt: 'fail' },
  grant: { sure: true, approval: true },
  wire: { onDoubt: 'ask', approval: true },
};

export const effectNames: readonly string[] = Object.keys(effects);

/** Those that may happen more than once for a key, as they say so. */
export const idempotent: ReadonlySet<string> = new Set(['put']);

const input = z.object({ item: z.int() });

const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** Work that leaves deeds in the ledger of a folder, for agents in both modes. */
export function configOf(folder: string): ApomeshConfig {
  const ledger = new Ledger(folder);
  const tools = Object.entries(effects).map(([name, { sure = false, ...options }]) =>
    defineTool({
      ...options,
      name,
      description: 'Does a deed.',
      input,
      timeout: TIMEOUT_MS,
      run: async ({ item }, { key, session }) => {
        await sleep(between(0, 1_000));
        ledger.add({ key, tool: name, session });
        await sleep(between(0, 1_000));
        return { item, key };
      },
      ...(sure && {
        reconcile: ({ item }: z.infer<typeof input>, { key }: { key: string }) =>
          ledger.has(key) ? { happened: true as const, result: { item, key } } : { happened: false as const },
      }),
    }),
  );
  const look = defineTool({
    name: 'look',
    description: 'Looks at the ledger.',
    effect: 'read',
    input,
    run: ({ item }) => ({ item, deeds: ledger.deeds().length }),
  });
  const { model } = goalModel({ before: () => sleep(between(20, 300)) });
  const agents = (['loop', 'call'] as const).map((dispatch) =>
    defineAgent({ name: dispatch, model: 'work', instructions: 'Work.', tools: [...effectNames, 'look'], dispatch }),
  );
  return {
    models: { work: model },
    tools: [...tools, look],
    agents,
    recovery: { every: '5s' },
    limits: { heartbeatTimeout: '1.5s', stickyQueueTimeout: '500ms', doubtGrace: GRACE_MS, sliceNodes: 4 },
  };
}
