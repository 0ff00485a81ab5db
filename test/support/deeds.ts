import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/agent/agent.ts';
import { defineTool, type Reconciled, type ToolOptions } from '../../src/agent/tool.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import { goalModel } from './script.ts';

export const TIMEOUT_MS = 6_000;
export const GRACE_MS = 500;
export const HEARTBEAT_MS = 1_000;
export const SHUTDOWN_GRACE_MS = 1_500;
/** The gated model gives its answer to this node, the third, only once that deed may end. */
export const GATE = 'gate';

const input = z.object({ id: z.string() });

/** What a deed has left behind: a line when it begins and one when it ends. */
export interface Trace {
  readonly of: 'begin' | 'end';
  readonly pid: number;
  readonly at: number;
  readonly key: string;
}

/** A folder in which tools of several processes do deeds, and tests watch them and let them end. */
export class Deeds {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  traces(id: string): readonly Trace[] {
    const file = join(this.folder, id);
    if (!existsSync(file)) return [];
    // What is being written just now has no end yet.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Trace);
  }

  begun(id: string): readonly Trace[] {
    return this.traces(id).filter(({ of }) => of === 'begin');
  }

  /** Lets a deed end, now or when it is done again. */
  open(id: string): void {
    writeFileSync(join(this.folder, `${id}.open`), '');
  }

  /** Waits until a deed may end. */
  async until(id: string): Promise<void> {
    while (!existsSync(join(this.folder, `${id}.open`))) await sleep(20, undefined, { ref: false });
  }

  async do(id: string, key: string): Promise<string> {
    this.#write(id, 'begin', key);
    await this.until(id);
    this.#write(id, 'end', key);
    return `${id} was done`;
  }

  /** As {@link do}, and ends when it is told to stop. */
  async doUnlessTold(id: string, key: string, signal: AbortSignal): Promise<string> {
    this.#write(id, 'begin', key);
    const told = new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve(`${id} was told of ${signal.reason.name}`), { once: true });
    });
    const said = await Promise.race([told, this.until(id).then(() => `${id} was done`)]);
    this.#write(id, 'end', key);
    return said;
  }

  /** How often a deed was asked about, this time included. */
  asked(id: string): number {
    const file = join(this.folder, `${id}.asked`);
    appendFileSync(file, '?');
    return readFileSync(file, 'utf8').length;
  }

  #write(id: string, of: Trace['of'], key: string): void {
    const trace: Trace = { of, pid: process.pid, at: Date.now(), key };
    appendFileSync(join(this.folder, id), `${JSON.stringify(trace)}\n`);
  }
}

const reconciles: Readonly<Record<string, (deeds: Deeds, id: string) => Reconciled>> = {
  found: () => ({ happened: true, result: 'it was found' }),
  absent: () => ({ happened: false }),
  late: (deeds, id) => (deeds.asked(id) < 2 ? { happened: false } : { happened: true, result: 'it came late' }),
  unsure: () => 'unknown',
};

const options: Readonly<Record<string, Omit<ToolOptions, 'approval'> & { approval?: true }>> = {
  look: { effect: 'read' },
  permit: { approval: true },
  ask: {},
  tell: { onDoubt: 'tell' },
  fail: { onDoubt: 'fail' },
  idem: { idempotent: true },
  found: {},
  absent: {},
  late: {},
  unsure: {},
  heed: {},
};

/** Tools by what becomes of a deed in doubt, and agents in both modes. */
export function configOf(folder: string): ApomeshConfig {
  const deeds = new Deeds(folder);
  const tools = Object.entries(options).map(([name, option]) => {
    const reconcile = reconciles[name];
    return defineTool({
      ...option,
      name,
      description: 'Does a deed.',
      input,
      timeout: TIMEOUT_MS,
      ...(reconcile && { reconcile: ({ id }: z.infer<typeof input>) => reconcile(deeds, id) }),
      run: ({ id }, { key, signal }) => (name === 'heed' ? deeds.doUnlessTold(id, key, signal) : deeds.do(id, key)),
    });
  });
  const agents = (['loop', 'call'] as const).flatMap((dispatch) =>
    ['goals', 'gated'].map((model) =>
      defineAgent({ name: `${model}-${dispatch}`, model, instructions: '', tools: Object.keys(options), dispatch }),
    ),
  );
  const gated = goalModel({ before: async (node) => (node === 2 ? deeds.until(GATE) : undefined) });
  return {
    models: { goals: goalModel().model, gated: gated.model },
    tools,
    agents,
    limits: { heartbeatTimeout: HEARTBEAT_MS, doubtGrace: GRACE_MS, shutdownGrace: SHUTDOWN_GRACE_MS },
  };
}
