import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A link to a server that can be cut or held up. */
export interface TcpProxy {
  readonly port: number;
  /** The next answer of the server is lost together with its connection; what was asked is done. */
  loseNextAnswer(): void;
  /** From now on the server's answers do not arrive, until `resume`. */
  stall(): void;
  resume(): void;
  /** From now on the server cannot be reached, until `resume`. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * @param isAnswer which data of the server `loseNextAnswer` counts as one.
 */
export async function startTcpProxy(
  host: string,
  port: number,
  isAnswer: (data: Buffer) => boolean,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let lose = false;
  let stalled = false;
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(port, host);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => {
      if (lose && isAnswer(data)) {
        lose = false;
        near.destroy();
      } else if (!stalled) near.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    loseNextAnswer: () => {
      lose = true;
    },
    stall: () => {
      stalled = true;
    },
    resume: () => {
      stalled = false;
      isCut = false;
    },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
