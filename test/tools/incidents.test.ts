import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generate } from '../../src/models/generate.ts';
import type { ToolOutcome } from '../../src/models/prompt.ts';
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../../src/models/prompt.ts';
import { type ApomeshConfig, parseConfig } from '../../src/plugin/config.ts';
import type { Tools } from '../../src/ports/tools.ts';
import { effectKey } from '../../src/session/keys.ts';
import { describeTool, toolset } from '../../src/tools/toolset.ts';

let dir = '';
let config: ApomeshConfig;
let tools: Tools;
let prepare: (dir: string) => string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'apomesh-incidents-'));
  process.env['APOMESH_WORKDIR'] = dir;
  config = (await import('../../examples/incidents/apomesh.config.ts')).default;
  prepare = (await import('../../examples/incidents/workdir.ts')).prepareWorkdir;
  tools = await toolset(parseConfig(config, null));
});
beforeEach(async () => {
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true });
  prepare(dir);
});
afterAll(async () => {
  await tools.close();
  await rm(dir, { recursive: true });
});

const read = (path: string) => readFile(join(dir, path), 'utf8');
const ledger = async () =>
  (await read('ledger.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const report = (fields: string) =>
  `# A report\n\n${fields}\n\n${'Something did not work for quite some time. '.repeat(4)}\n`;

/** Runs the agent with its real tools, as a session would. `deny` refuses calls, by tool. */
async function triage(deny: readonly string[] = []) {
  const [agent] = config.agents ?? [];
  if (!agent) throw new Error('no agent');
  const offered = tools.resolve(agent.tools ?? []);
  const model = config.models?.['rehearsal'] as LanguageModelV4;
  const prompt: LanguageModelV4Message[] = [systemMessage(agent.instructions), userMessage('Triage the reports.')];
  const signal = new AbortController().signal;
  const asked = new Map<string, number>();
  for (let steps = 1; ; steps++) {
    if (steps > 40) throw new Error(`no end in sight: ${JSON.stringify(prompt.slice(-2))}`);
    const generation = await generate(model, { prompt, tools: offered.map(describeTool), output: null, signal });
    prompt.push(assistantMessage(generation));
    if (generation.calls.length === 0)
      return { steps, asked, answer: agent.output?.parse(JSON.parse(generation.text)) };
    const results = generation.calls.map(async ({ id, tool: name, args }): Promise<ToolOutcome> => {
      const tool = offered.find((one) => one.name === name);
      const n = asked.get(name) ?? 0;
      asked.set(name, n + 1);
      if (deny.includes(name)) return { callId: id, tool: name, outcome: 'denied', value: 'not today' };
      const wrong = tool?.check(args) ?? (tool ? null : 'no such tool');
      if (!tool || wrong !== null) throw new Error(`${name}: ${wrong}`);
      const key = effectKey({ agent: 's/root-1', tool: name, args, n });
      const context = { key, signal, agent: 's/root-1', session: 's', log: () => undefined };
      return await tool.run(args, context).then(
        (value) => ({ callId: id, tool: name, outcome: 'ok' as const, value: value as never }),
        (error: Error) => ({ callId: id, tool: name, outcome: 'error' as const, value: error.message }),
      );
    });
    prompt.push(toolMessage(await Promise.all(results), generation));
  }
}

describe('the incidents example', () => {
  it('E1: reads are free, writing the same again is idempotent, the ledger is neither', () => {
    const of = (name: string) => tools.tool(name);
    expect(of('read_text_file')).toMatchObject({ class: 'read' });
    expect(of('write_file')).toMatchObject({ class: 'effect', idempotent: true });
    expect(of('edit_file')).toMatchObject({ class: 'effect', idempotent: false });
    expect(of('append_ledger')).toMatchObject({ class: 'effect', idempotent: false, reconcile: expect.any(Function) });
  });

  it('E2: writes a ticket and one line in the ledger for each distinct incident', async () => {
    const { steps, asked, answer } = await triage();
    const ids = [
      'INC-2026-0311',
      'INC-2026-0318',
      'INC-20260324-search-indexer',
      'INC-2026-0402',
      'INC-2026-0409',
      'INC-20260414-image-cdn',
      'INC-2026-0421',
      'INC-2026-0429',
    ];
    expect(answer).toEqual({
      reports: 13,
      incidents: 8,
      duplicates: 4,
      malformed: ['untitled-draft.md'],
      tickets: ids.map((id) => `tickets/${id}.md`),
    });
    expect((await readdir(join(dir, 'tickets'))).sort()).toEqual(ids.map((id) => `${id}.md`).sort());
    const lines = await ledger();
    expect(lines.map(({ incident }) => incident)).toEqual(ids);
    expect(lines.map(({ severity }) => severity)).toEqual([
      'SEV1',
      'SEV2',
      'SEV3',
      'SEV2',
      'SEV3',
      'SEV3',
      'SEV4',
      'SEV2',
    ]);
    expect(new Set(lines.map(({ key }) => key)).size).toBe(8);
    expect(steps).toBeGreaterThanOrEqual(12);
    expect(steps).toBeLessThanOrEqual(25);
    expect(Object.fromEntries(asked)).toMatchObject({ read_text_file: 13, write_file: 9, append_ledger: 8 });
  });

  it('E2: tells times in UTC, joins what the reports say, and names the malformed one', async () => {
    await triage();
    const login = await read('tickets/INC-2026-0318.md');
    expect(login).toContain('- Start: 2026-03-18 06:40 UTC');
    expect(login).toContain('- End: 2026-03-18 07:30 UTC (50 minutes)');
    expect(login).toContain('mobile-login-18-march.md, by Mobile (Jonas Lindqvist)');
    expect(login).toMatch(/- \[ \] Automatic rotation[\s\S]*- \[ \] Keep the session on a 401/);
    expect(await read('tickets/INC-2026-0421.md')).toContain('- Start: 2026-04-21 02:00 UTC');
    expect(await read('tickets/INC-20260324-search-indexer.md')).toContain('- Start: 2026-03-24 22:15 UTC');
    const summary = await read('summary.md');
    expect(summary).toContain('untitled-draft.md: it does not say which service was affected or when it started');
    expect(summary).toContain(
      '- INC-2026-0311: 2026-03-11-checkout-outage.md, payments-team-note-11-march.md, checkout-tickets-support.md',
    );
    expect(summary).not.toContain('Troubles');
  });

  it('E2: decides from what the files say, not from what it expects', async () => {
    for (const name of readdirSync(join(dir, 'reports'))) await rm(join(dir, 'reports', name));
    const put = (name: string, fields: string) => writeFile(join(dir, 'reports', name), report(fields));
    await put('a.md', 'Service: Billing\nSeverity: P1\nStarted: 2026-06-01 10:00 UTC\nEnded: 11:00');
    await put('b.md', '- **Service:** billing\n- **Severity:** low\n- **Detected:** 1 June 2026, 12:59 CEST');
    await put(
      'c.md',
      '| Service | billing |\n| Severity | high |\n| Started | 2026-06-01 11:01 UTC |\n| Ended | 12:00 |',
    );
    await put('d.md', 'Service: billing\nStarted: yesterday');
    const { answer } = await triage();
    expect(answer).toMatchObject({ reports: 4, incidents: 1, duplicates: 2, malformed: ['d.md'] });
    expect(await read('tickets/INC-20260601-billing.md')).toContain('- Severity: SEV1');
    await rm(join(dir, 'reports', 'b.md'));
    await rm(join(dir, 'tickets'), { recursive: true });
    expect((await triage()).answer).toMatchObject({ reports: 3, incidents: 2, duplicates: 0 });
  });

  it('W6: goes on after tool errors, and says so', async () => {
    await symlink('/nowhere/at-all.md', join(dir, 'reports', 'gone.md'));
    await mkdir(join(dir, 'tickets', 'INC-2026-0409.md'), { recursive: true });
    const { asked, answer } = await triage();
    expect(answer).toMatchObject({ reports: 14, incidents: 8, malformed: ['gone.md', 'untitled-draft.md'] });
    expect(answer).toHaveProperty('tickets.length', 7);
    expect((await ledger()).map(({ incident }) => incident)).not.toContain('INC-2026-0409');
    expect(asked.get('read_text_file')).toBe(15);
    const summary = await read('summary.md');
    expect(summary).toMatch(/gone\.md: it could not be read/);
    expect(summary).toMatch(/The ticket of INC-2026-0409 was not written: /);
  });

  it('H4: takes a denial as final', async () => {
    const { asked, answer } = await triage(['append_ledger']);
    expect(answer).toMatchObject({ incidents: 8 });
    expect(asked.get('append_ledger')).toBe(8);
    expect(await read('summary.md')).toContain("The ledger's entry of INC-2026-0311 is not certain: not today");
  });

  it('W6: ends where there are no reports', async () => {
    for (const name of readdirSync(join(dir, 'reports'))) await rm(join(dir, 'reports', name));
    expect((await triage()).answer).toEqual({ reports: 0, incidents: 0, duplicates: 0, malformed: [], tickets: [] });
  });

  it('E4: the ledger tells whether a call happened', async () => {
    const tool = tools.tool('append_ledger');
    const args = { incident: 'INC-1', service: 'x', severity: 'SEV1', ticket: 'tickets/INC-1.md' };
    const signal = new AbortController().signal;
    const context = { key: 'sha256:a', signal, agent: 's/root-1', session: 's', log: () => undefined };
    expect(await tool?.reconcile?.(args, context)).toEqual({ happened: false });
    const result = await tool?.run(args, context);
    expect(await tool?.reconcile?.(args, context)).toEqual({ happened: true, result });
    expect(await tool?.reconcile?.(args, { ...context, key: 'sha256:b' })).toEqual({ happened: false });
  });
});
