import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type MongoService, startMongo } from '../../../src/services/mongo.ts';
import { freePorts } from '../../../src/services/ports.ts';
import { startTemporal, type TemporalService } from '../../../src/services/temporal.ts';
import { until } from '../../support/until.ts';

const BIN = join(import.meta.dirname, '..', '..', '..', '.apomesh');
const START_MS = 60_000;

const say = (): void => undefined;

type Service = TemporalService | MongoService;

/** A server that can be killed and comes back at the same place. */
class Server<S extends Service> {
  readonly #start: () => Promise<S>;
  #service: S;

  private constructor(start: () => Promise<S>, service: S) {
    this.#start = start;
    this.#service = service;
  }

  static async open<S extends Service>(start: () => Promise<S>): Promise<Server<S>> {
    return new Server(start, await start());
  }

  get service(): S {
    return this.#service;
  }

  /** Resolves once it is gone. */
  async kill(): Promise<void> {
    const { pid } = this.#service;
    if (pid !== null) process.kill(pid, 'SIGKILL');
    await this.#service.stop();
  }

  /** Its port may be in use for a moment yet. */
  async start(): Promise<void> {
    this.#service = await until('the server is back', () => this.#start().catch(() => null), START_MS);
  }
}

/** A Temporal and a store of their own, with their data in a folder. */
export class Servers {
  readonly temporal: Server<TemporalService>;
  readonly mongo: Server<MongoService>;
  readonly #folder: string;

  private constructor(folder: string, temporal: Server<TemporalService>, mongo: Server<MongoService>) {
    this.#folder = folder;
    this.temporal = temporal;
    this.mongo = mongo;
  }

  static async open(folder: string): Promise<Servers> {
    mkdirSync(folder, { recursive: true });
    const [port, uiPort, mongoPort] = (await freePorts(3)) as [number, number, number];
    const shared = { dataDir: folder, binDir: BIN, say };
    const [temporal, mongo] = await Promise.all([
      Server.open(() => startTemporal({ ...shared, port, uiPort })),
      Server.open(() => startMongo({ ...shared, port: mongoPort })),
    ]);
    return new Servers(folder, temporal, mongo);
  }

  get address(): string {
    return this.temporal.service.address;
  }

  get mongoUri(): string {
    return this.mongo.service.uri;
  }

  /** Takes away all that Temporal knows, while it does not run. */
  forget(): void {
    rmSync(join(this.#folder, 'temporal'), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await Promise.all([this.temporal.service.stop(), this.mongo.service.stop()]);
  }
}
