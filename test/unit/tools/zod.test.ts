import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../../src/agent/tool.ts';
import { ConfigInvalidError, InvalidToolInputError } from '../../../src/contract/errors.ts';
import { canonicalJson } from '../../../src/session/canonical-json.ts';
import { zodTool } from '../../../src/tools/zod.ts';

const context = (): ToolContext => ({
  key: 'sha256:0',
  signal: new AbortController().signal,
  agent: 's/root-1',
  session: 's',
  log: () => undefined,
});

const book = defineTool({
  name: 'book',
  description: 'Books a room.',
  input: z.object({
    room: z.string().min(1),
    nights: z.int().default(1),
    on: z.iso.date().transform((text) => new Date(text)),
  }),
  approval: ({ nights, on }) => nights > 3 || on.getUTCDay() === 0,
  reconcile: ({ room }, { key }) => ({ happened: true, result: `${room} ${key}` }),
  run: ({ room, nights, on }, { agent }) => ({ room, nights, on: on.getTime(), agent }),
});

const plain = { name: 'x', description: '', input: z.object({}), run: () => 1 };

describe('a tool in TypeScript', () => {
  const tool = zodTool(book);

  it('E1: is an effect, not idempotent, asks in doubt, has a minute, and is tried once, unless it says otherwise', () => {
    expect(tool).toMatchObject({
      class: 'effect',
      idempotent: false,
      onDoubt: 'ask',
      timeoutMs: 60_000,
      retry: { maximumAttempts: 1, initialIntervalMs: 1000, backoffCoefficient: 2 },
      taskQueue: null,
    });
    const { reconcile } = zodTool({ ...plain, effect: 'read' });
    expect(reconcile).toBeNull();
    const said = { effect: 'read', idempotent: true, onDoubt: 'tell', timeout: '2 minutes', taskQueue: 'q' } as const;
    const retry = { maximumAttempts: 4, initialInterval: 50, backoffCoefficient: 1 };
    expect(zodTool({ ...plain, ...said, retry })).toMatchObject({
      class: 'read',
      idempotent: true,
      onDoubt: 'tell',
      timeoutMs: 120_000,
      retry: { maximumAttempts: 4, initialIntervalMs: 50, backoffCoefficient: 1 },
      taskQueue: 'q',
    });
  });

  it('P1: describes what a model has to give, as JSON', () => {
    expect(tool.inputSchema).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        room: { type: 'string', minLength: 1 },
        nights: expect.objectContaining({ type: 'integer', default: 1 }),
        on: expect.objectContaining({ type: 'string', format: 'date' }),
      },
      required: ['room', 'on'],
    });
    expect(() => canonicalJson(tool.inputSchema)).not.toThrow();
  });

  it('H4: says what is wrong with arguments, in words', () => {
    expect(tool.check({ room: 'a', on: '2026-11-30' })).toBeNull();
    const wrong = tool.check({ room: '', nights: 'two', on: '2026-11-30' });
    expect(wrong).toMatch(/at room/);
    expect(wrong).toMatch(/expected number, received string[\s\S]*at nights/);
    expect(tool.check([])).toMatch(/expected object/);
    const failing = zodTool({
      ...plain,
      input: z.object({}).refine(() => {
        throw new Error('lookup failed');
      }),
    });
    expect(failing.check({})).toMatch(/lookup failed/);
  });

  it('W0: runs with defaults and transforms applied', async () => {
    const result = await tool.run({ room: 'a', on: '2026-11-30' }, context());
    expect(result).toEqual({ room: 'a', nights: 1, on: Date.UTC(2026, 10, 30), agent: 's/root-1' });
    expect(await tool.reconcile?.({ room: 'a', on: '2026-11-30' }, context())).toEqual({
      happened: true,
      result: 'a sha256:0',
    });
    await expect(tool.run({ room: 'a' }, context())).rejects.toThrow(InvalidToolInputError);
  });

  it('H4: a predicate sees the parsed arguments, and asks where it cannot tell', () => {
    expect(tool.approval({ room: 'a', on: '2026-11-30' })).toBe(false);
    expect(tool.approval({ room: 'a', on: '2026-11-29' })).toBe(true);
    expect(tool.approval({ room: 'a', on: '2026-11-30', nights: 9 })).toBe(true);
    expect(
      zodTool({
        ...plain,
        approval: () => {
          throw new Error('no');
        },
      }).approval({}),
    ).toBe(true);
    const late = (async () => Promise.reject(new Error('no'))) as unknown as () => boolean;
    expect(zodTool({ ...plain, approval: late }).approval({})).toBe(true);
    const none = (() => undefined) as unknown as () => boolean;
    expect(zodTool({ ...plain, approval: none }).approval({})).toBe(false);
    expect(zodTool({ ...plain, approval: true }).approval({})).toBe(true);
    expect(zodTool(plain).approval({})).toBe(false);
  });

  it('H4: an asynchronous check is made when it runs', async () => {
    const taken = zodTool({
      ...plain,
      input: z.object({ name: z.string().refine(async (name) => name !== 'x', 'is taken') }),
    });
    expect(taken.check({ name: 'x' })).toBeNull();
    await expect(taken.run({ name: 'x' }, context())).rejects.toThrow(/is taken/);
    expect(await taken.run({ name: 'y' }, context())).toBe(1);
  });

  it.each([
    ['a name with a slash', { name: 'a/b' }, /"a\/b"/],
    ['no name', { name: undefined }, /tools/],
    ['no code', { run: undefined }, /tools\.x\.run/],
    ['no schema', { input: { type: 'object' } }, /tools\.x\.input/],
    ['input that JSON cannot carry', { input: z.object({ at: z.date() }) }, /tools\.x\.input: Date/],
    ['input that is no object', { input: z.string() }, /tools\.x\.input.*"string"/],
    ['a wrong class', { effect: 'write' }, /tools\.x\.effect: "write".*read, effect/],
    ['a wrong time-out', { timeout: 'soon' }, /tools\.x\.timeout: "soon"/],
    ['no time at all', { timeout: 0 }, /tools\.x\.timeout/],
    ['no attempt', { retry: { maximumAttempts: 0 } }, /tools\.x\.retry\.maximumAttempts/],
    ['a wrong doubt', { onDoubt: 'guess' }, /tools\.x\.onDoubt.*ask, tell, fail/],
    ['a wrong approval', { approval: 'yes' }, /tools\.x\.approval/],
  ])('E1: %s is refused, naming the field', (_, wrong, message) => {
    const make = () => zodTool({ ...plain, ...wrong } as never);
    expect(make).toThrow(ConfigInvalidError);
    expect(make).toThrow(message);
  });
});
