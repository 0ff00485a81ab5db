import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { Worker } from '@temporalio/worker';
import { ApomeshClient } from '../../src/client/client.ts';
import type { SessionHandle } from '../../src/client/handle.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import type { Stores } from '../../src/ports/store.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import { formatLog } from '../../src/session/ndjson.ts';
import { addressOf, bundle, connect, mongoUriOf, openMongo, unique } from '../support/pool.ts';
import { until } from '../support/until.ts';
import { Crew } from './crew.ts';
import type { Moment, Plan } from './moments.ts';
import { type Acknowledged, acknowledgedIn } from './trap.ts';
import { type WorkOptions, workConfig } from './work.ts';

export interface StageOptions {
  readonly workers: number;
  /** Workflows run in this process, so that nothing but activities is hit. */
  readonly apart?: boolean;
  /** Time-out of the effect, in milliseconds. */
  readonly timeoutMs: number;
  /** As {@link WorkOptions.paceMs}. */
  readonly paceMs?: number;
  readonly moments: readonly Moment[];
  /** How long all of it may take, in milliseconds. */
  readonly longestMs: number;
}

/** A session that has come to its end, with the log as an observer saw it come. */
export interface Followed {
  readonly session: SessionHandle;
  readonly seen: readonly Envelope[];
}

/** How long a workflow task may take: one that dies with its worker is not waited for any longer. */
const WORKFLOW_TASK_MS = 5_000;

const quick: WorkflowClientInterceptor = {
  start: (input, next) =>
    next({ ...input, options: { ...input.options, workflowTaskTimeout: msToTs(WORKFLOW_TASK_MS) } }),
};

interface Parts {
  readonly client: Client;
  readonly taskQueue: string;
  readonly conductor: Worker | null;
}

/** How long a stopped process may stay so, should nobody take over. */
const LONGEST_FREEZE_MS = 30_000;

/** Runs a test on a stage of its own. Where it fails, the sessions' logs stay behind. */
export async function onStage(options: StageOptions, test: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await Stage.open(options);
  let keep = true;
  try {
    await test(stage);
    keep = false;
  } finally {
    if (keep) {
      await stage.export();
      process.stderr.write(`the logs of the sessions are in ${stage.folder}\n`);
    }
    await stage.close({ keep });
  }
}

/** Worker processes with moments at which they are hit, and a client that starts sessions on them. */
export class Stage {
  readonly folder: string;
  readonly stores: Stores;
  readonly crew: Crew;
  readonly #apomesh: ApomeshClient;
  readonly #taskQueue: string;
  readonly #signal: AbortSignal;
  readonly #conducting: Promise<void> | null;
  readonly #over: () => void;
  readonly #started: SessionHandle[] = [];
  readonly #seen = new Map<string, Envelope[]>();

  private constructor(options: StageOptions, folder: string, stores: Stores, crew: Crew, parts: Parts) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.folder = folder;
    this.stores = stores;
    this.crew = crew;
    this.#apomesh = new ApomeshClient({ client: parts.client });
    this.#taskQueue = parts.taskQueue;
    this.#signal = AbortSignal.timeout(options.longestMs);
    this.#conducting = parts.conductor?.runUntil(promise) ?? null;
    this.#over = resolve;
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { workers, timeoutMs, paceMs, moments, apart = false } = options;
    const folder = mkdtempSync(join(tmpdir(), 'apomesh-crash-'));
    const database = unique('crash');
    const taskQueue = unique('crash');
    const stores = openMongo(database);
    const workflowBundle = await bundle();
    const file = join(folder, 'workflows.js');
    writeFileSync(file, workflowBundle.code);
    const { native, connection } = await connect();
    const conductor = apart ? await Worker.create({ connection: native, taskQueue, workflowBundle }) : null;
    const where = { temporal: addressOf(), mongo: mongoUriOf(), database, taskQueue, bundle: apart ? null : file };
    const crew = await Crew.open(workers, { ...where, folder, timeoutMs, ...(paceMs && { paceMs }), moments });
    const plugin = new ApomeshPlugin(workConfig({ folder, timeoutMs, reached: () => undefined }), { stores });
    const client = new Client({ connection, plugins: [plugin], interceptors: { workflow: [quick] } });
    return new Stage(options, folder, stores, crew, { client, taskQueue, conductor });
  }

  /** Runs sessions to their end, following each. */
  run(plan: Plan): Promise<Followed[]> {
    return Promise.all(
      [...plan].map(async ([id, agent]) => {
        const seen: Envelope[] = [];
        this.#seen.set(id, seen);
        const session = await this.#apomesh.sessions.start({ agent, goal: id, id, taskQueue: this.#taskQueue });
        this.#started.push(session);
        for await (const envelope of session.tail({ signal: this.#signal })) seen.push(envelope);
        return { session, seen };
      }),
    );
  }

  /** What an observer has seen of a session so far. */
  seen(session: string): readonly Envelope[] {
    return this.#seen.get(session) ?? [];
  }

  /** The places of all events of a session that any worker was told are logged. */
  acknowledged(session: string): Acknowledged[] {
    return acknowledgedIn(this.folder).filter((one) => one.session === session);
  }

  /** Lets the process that a session's moment has stopped go on, once another one has taken over the session. */
  async thaw(session: string): Promise<void> {
    const pid = await until('a moment has come', () => this.crew.hit(session), LONGEST_FREEZE_MS);
    const fences = () => this.seen(session).filter(({ type }) => type === 'AgentResuming').length;
    const before = fences();
    await until('the lost agent is taken over', () => fences() > before, LONGEST_FREEZE_MS).finally(() =>
      this.crew.thaw(pid),
    );
  }

  /** Exports the logs of all sessions into the folder. */
  async export(): Promise<void> {
    for (const session of this.#started)
      writeFileSync(join(this.folder, `${session.id}.ndjson`), formatLog(await session.events()));
  }

  async close({ keep }: { keep: boolean }): Promise<void> {
    await this.crew.close();
    this.#over();
    await this.#conducting;
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}
