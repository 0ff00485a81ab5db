import { openai } from '@ai-sdk/openai';
import { defineAgent, defineConfig, defineTool, scriptedModel, ToolOutcomeUnknownError } from 'apomesh';
import { z } from 'zod';

// Every field of a config, with a value that makes sense. What each means: docs/configuration.md.

const transfer = defineTool({
  name: 'transfer',
  description: 'Transfers money.',
  input: z.object({ to: z.string(), cents: z.int().positive() }),
  effect: 'effect',
  idempotent: true,
  onDoubt: 'ask',
  approval: ({ cents }) => cents > 10_000,
  timeout: '30 seconds',
  retry: { maximumAttempts: 3, initialInterval: '1 second', backoffCoefficient: 2 },
  taskQueue: 'bank',
  async run({ to, cents }, { key, signal }) {
    const response = await fetch('https://bank.example/transfers', {
      method: 'POST',
      headers: { 'idempotency-key': key },
      body: JSON.stringify({ to, cents }),
      signal,
    }).catch((cause) => {
      throw new ToolOutcomeUnknownError('the bank did not answer', { cause });
    });
    if (!response.ok) throw new Error(`refused: ${await response.text()}`);
    return { status: response.status };
  },
  async reconcile(_args, { key, signal }) {
    const response = await fetch(`https://bank.example/transfers?key=${key}`, { signal });
    if (response.status === 404) return { happened: false };
    return response.ok ? { happened: true, result: { status: 201 } } : 'unknown';
  },
});

const clerk = defineAgent({
  name: 'clerk',
  version: '1.2.0',
  model: 'openai/gpt-5',
  instructions: 'You pay invoices.',
  tools: ['transfer', 'files/*', 'wiki_search'],
  skills: ['invoices'],
  coordination: { kind: 'solo', params: {} },
  budget: { maxSteps: 50, maxTokens: 200_000, maxCostUsd: 2, maxToolCalls: 100, deadline: '2 days' },
  durability: 'checkpointed',
  output: z.object({ paid: z.array(z.string()) }),
  dispatch: 'loop',
  roles: {
    checker: { model: 'openai/gpt-5', instructions: 'You check what was paid.', tools: ['wiki_search'] },
  },
});

export default defineConfig({
  models: { 'openai/*': openai, rehearsal: scriptedModel(() => ({ text: 'Done.' })) },
  prices: { 'openai/gpt-5': { input: 1.25, output: 10 } },
  tools: [transfer],
  mcp: {
    files: {
      command: 'npx',
      args: ['mcp-server-filesystem', '.'],
      env: { LANG: 'C.UTF-8' },
      cwd: '/srv/invoices',
      effects: { read_text_file: 'read', write_file: 'effect' },
      tools: { write_file: { idempotent: true }, move_file: { approval: true, timeout: '5 seconds' } },
      connectTimeout: '30 seconds',
    },
    wiki: {
      url: 'https://wiki.example/mcp',
      headers: { authorization: 'Bearer …' },
      trust: true,
      prefix: 'wiki_',
    },
  },
  agents: [clerk],
  skills: './skills',
  limits: {
    heartbeatTimeout: '10 seconds',
    maxBodyBytes: 8 * 1024 * 1024,
    maxBundleBytes: 32 * 1024 * 1024,
    sliceNodes: 200,
    sliceTime: '5 minutes',
    doubtGrace: '5 seconds',
    stickyQueueTimeout: '500 milliseconds',
    shutdownGrace: '20 seconds',
  },
  recovery: { every: '10 minutes' },
  deployment: { name: 'clerks', buildId: process.env['BUILD_ID'] ?? 'local' },
  mongo: { uri: 'mongodb://db.example/?replicaSet=rs0', database: 'apomesh' },
});
