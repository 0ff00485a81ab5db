import { createServer } from 'node:net';

const listen = (wanted: number): Promise<{ port: number; close: () => Promise<void> }> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve({ port, close: () => new Promise((done) => server.close(() => done())) });
    });
  });

/** Different ports of 127.0.0.1 that are free now. Another process may take one before it is used: see {@link onPorts}. */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => listen(0)));
  await Promise.all(held.map((one) => one.close()));
  return held.map((one) => one.port);
}

/** Whether nobody listens on a port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  return listen(port).then(
    async (held) => {
      await held.close();
      return true;
    },
    () => false,
  );
}

const TAKEN = /address already in use|EADDRINUSE/i;

/** Starts something on free ports, with others where one was taken in between. Ports that are given are kept. */
export async function onPorts<T>(
  given: readonly (number | undefined)[],
  start: (ports: readonly number[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const free = await freePorts(given.length);
    try {
      return await start(given.map((port, i) => port ?? (free[i] as number)));
    } catch (error) {
      const taken = error instanceof Error && TAKEN.test(error.message);
      if (!taken || attempt === 3 || !given.includes(undefined)) throw error;
    }
  }
}
