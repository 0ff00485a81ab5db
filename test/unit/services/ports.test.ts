import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { freePorts, isFree, onPorts } from '../../../src/services/ports.ts';

const taken = (): Promise<never> => Promise.reject(new Error('listen tcp: bind: address already in use'));

describe('ports', () => {
  it('are different and free', async () => {
    const ports = await freePorts(5);
    expect(new Set(ports).size).toBe(5);
    expect(await Promise.all(ports.map(isFree))).toEqual([true, true, true, true, true]);
  });

  it('are not free while someone listens', async () => {
    const [port] = (await freePorts(1)) as [number];
    const server = createServer();
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    expect(await isFree(port)).toBe(false);
    await new Promise((done) => server.close(done));
  });

  it('are chosen anew where one was taken in between, and given ones are kept', async () => {
    const seen: (readonly number[])[] = [];
    const started = await onPorts([4711, undefined], (ports) => {
      seen.push(ports);
      return seen.length === 1 ? taken() : Promise.resolve('up');
    });
    expect(started).toBe('up');
    expect(seen.map(([first]) => first)).toEqual([4711, 4711]);
    expect(seen[0]?.[1]).not.toBe(seen[1]?.[1]);
  });

  it('are not tried again for ever, nor for another failure, nor where all are given', async () => {
    let attempts = 0;
    const counting = (start: () => Promise<never>) => () => {
      attempts += 1;
      return start();
    };
    await expect(onPorts([undefined], counting(taken))).rejects.toThrow('in use');
    expect(attempts).toBe(3);
    await expect(
      onPorts(
        [undefined],
        counting(() => Promise.reject(new Error('else'))),
      ),
    ).rejects.toThrow('else');
    await expect(onPorts([4711], counting(taken))).rejects.toThrow('in use');
    expect(attempts).toBe(5);
  });
});
