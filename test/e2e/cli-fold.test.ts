import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fold } from '../../src/session/fold.ts';
import { parseLog } from '../../src/session/ndjson.ts';
import { apomesh, errorOf, jsonOf } from '../support/cli.ts';

const folder = join(import.meta.dirname, '..', 'vectors', 'logs');
const logs = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** Nothing can be reached. */
const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', MONGODB_URI: 'mongodb://127.0.0.1:1' };

describe('apomesh fold', () => {
  it.each(logs.filter((name) => !name.includes('.bad-')))('F1: prints the view of %s', async (name) => {
    const ran = await apomesh(['fold', join(folder, name)], { env });
    expect(ran).toMatchObject({ exit: 0, stderr: '' });
    expect(jsonOf(ran)).toEqual(JSON.parse(text(name.replace('.ndjson', '.view.json'))));
  });

  it.each(logs.filter((name) => name.includes('.bad-')))('L8: refuses %s, naming the seq', async (name) => {
    const ran = await apomesh(['fold', join(folder, name), '--json'], { env });
    expect(ran).toMatchObject({ exit: 5, stdout: '' });
    const { code, seq, session, message } = errorOf(ran);
    expect(code).toBe('LOG_UNREADABLE');
    expect(message).toContain(`session ${session} cannot be read at seq ${seq}`);
    // What comes before the row at fault is readable.
    const before = text(name).split('\n').slice(0, Number(seq)).join('\n');
    expect(fold(parseLog(before)).lastSeq).toBe(Number(seq) - 1);
  });

  it.each([[['fold']], [['fold', '-']]])('reads standard input with %j, on one line with --json', async (args) => {
    const ran = await apomesh([...args, '--json'], { env, input: text('000.ndjson') });
    expect(ran.stdout.trim().split('\n')).toHaveLength(1);
    expect(jsonOf(ran)).toEqual(JSON.parse(text('000.view.json')));
  });

  it('skips empty lines, and takes the other end of line', async () => {
    const input = `\n${text('000.ndjson').replaceAll('\n', '\r\n\r\n')}`;
    expect(await apomesh(['fold'], { input })).toMatchObject({ exit: 0 });
  });

  it.each([
    ['is not JSON', '{"v":1,'],
    ['is not an envelope', '[]'],
  ])('L8: refuses a line that %s', async (_what, line) => {
    const [first] = text('000.ndjson').split('\n');
    const ran = await apomesh(['fold'], { input: `${first}\n\n${line}\n` });
    expect(ran.exit).toBe(5);
    expect(ran.stderr).toMatch(/^error: LOG_UNREADABLE: .*at seq 1/);
  });

  it('L8: refuses bytes that are not UTF-8', async () => {
    const [first = ''] = text('000.ndjson').split('\n');
    const input = Buffer.concat([Buffer.from(`${first}\n`), Buffer.from([0x22, 0xff, 0x22])]);
    const ran = await apomesh(['fold'], { input });
    expect(ran.exit).toBe(5);
    expect(ran.stderr).toContain('at seq 1');
  });

  it('says that a file is not there', async () => {
    const ran = await apomesh(['fold', 'nope.ndjson']);
    expect(ran).toMatchObject({ exit: 2, stdout: '' });
    expect(ran.stderr).toMatch(/^error: USAGE: .*nope\.ndjson/);
  });
});
