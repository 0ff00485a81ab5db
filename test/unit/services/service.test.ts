import { describe, expect, it } from '@jest/globals';
import { ServiceStartError, startFirst } from '../../../src/services/service.ts';

const source = (name: string, start: () => Promise<string>): { name: string; start: () => Promise<string> } => ({
  name,
  start,
});
const failing = (name: string, why: string) => source(name, () => Promise.reject(new Error(why)));

describe('startFirst', () => {
  it('uses the first source that works, says why not the earlier ones and leaves the later ones alone', async () => {
    const said: string[] = [];
    const sources = [
      failing('the one on PATH', 'no such thing on PATH\nwith details'),
      source('the download', async () => 'here'),
      failing('the wheel', 'never asked'),
    ];
    const started = await startFirst('STORE_UNREACHABLE', 'MongoDB', sources, '', (line) => said.push(line));
    expect(started).toBe('here');
    expect(said).toEqual([
      'MongoDB: the one on PATH passed over: no such thing on PATH',
      'MongoDB: using the download',
    ]);
  });

  it('names all that was tried, and what to do, when none works', async () => {
    const sources = [failing('a', 'why a'), failing('b', 'why b')];
    const error = await startFirst('TEMPORAL_UNREACHABLE', 'Temporal', sources, 'Do this.', () => {}).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(ServiceStartError);
    expect(error).toMatchObject({
      code: 'TEMPORAL_UNREACHABLE',
      message: 'Temporal could not be started: a passed over: why a; b passed over: why b. Do this.',
      fields: { service: 'Temporal', tried: ['a passed over: why a', 'b passed over: why b'] },
    });
  });
});
