import { beforeAll, describe, expect, it } from '@jest/globals';
import { defineAgent } from '../../src/index.ts';
import { storeCatalog } from '../../src/pins/store-catalog.ts';
import { openMongo, type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { skillOf } from '../support/sealing.ts';

const modes = ['loop', 'call'] as const;
const goals = goalModel();
const refund = skillOf('refund', { 'references/rules.md': 'Ask first.\r\n', 'assets/logo.png': Buffer.from([255, 0]) });

let pool: Pool;
beforeAll(async () => {
  const agents = modes.map((dispatch) =>
    defineAgent({ name: `goals-${dispatch}`, model: 'goals', instructions: 'Be kind.', skills: ['refund'], dispatch }),
  );
  const stores = openMongo();
  await stores.prepare();
  await storeCatalog(stores).put(refund);
  pool = await startPool({ models: { goals: goals.model }, agents, limits: { maxBodyBytes: 50_000 } }, { stores });
});

describe.each(modes)('an agent with skills, driven by %s', (mode) => {
  it('P1: sees their names and descriptions, and loads them and their files with tools of its own', async () => {
    const goal = goalOf(
      calls(['load_skill', { name: 'refund' }], ['read_skill_file', { skill: 'refund', path: 'references/rules.md' }]),
      calls(['read_skill_file', { skill: 'refund', path: 'assets/logo.png' }], ['load_skill', { name: 'charge' }]),
      calls(['load_skill', {}]),
    );
    const session = await pool.start(`goals-${mode}`, goal);
    expect(await session.output()).toBe('done');
    const prompt = JSON.parse(goals.prompts(goal)[3] ?? '[]') as { role: string; content: never }[];
    expect(prompt[0]?.content).toMatch(/^Be kind\.\n\n# Skills\n(.|\n)*\n- refund: Does refund\.$/);
    const told = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content as { output: object }[]);
    expect(told.map(({ output }) => output)).toEqual([
      { type: 'text', value: refund.body },
      { type: 'text', value: 'Ask first.\r\n' },
      { type: 'json', value: { base64: '/wA=' } },
      { type: 'error-text', value: 'there is no skill charge; there is refund' },
      { type: 'error-text', value: expect.stringMatching(/name/) },
    ]);
    const events = await session.events();
    const done = events.flatMap((event) => (event.type === 'ToolCallCompleted' ? [event.data] : []));
    expect(done.map((data) => `${data.call} ${data.class} ${data.outcome}`).toSorted()).toEqual([
      '1.0 read ok',
      '1.1 read ok',
      '2.0 read ok',
      '2.1 read error',
      '3.0 read error',
    ]);
    const [started] = events;
    expect(started).toMatchObject({
      data: { shape: { skills: ['refund'], tools: ['load_skill', 'read_skill_file'] } },
    });
    expect(await session.view()).toMatchObject({ sideEffects: 0 });
    expect((await session.verify()).problems).toEqual([]);
  });
});
