import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import { createActivities, type Engine, Sessions } from '../../activities/index.ts';
import { Temporal } from '../client/temporal.ts';
import type { ApomeshActivities } from '../contract/activities.ts';
import { ConfigInvalidError } from '../contract/errors.ts';
import { createModels } from '../models/models.ts';
import type { Stores } from '../ports/store.ts';
import { toolset } from '../tools/toolset.ts';
import { BootScans } from './boot-scan.ts';
import type { ResolvedConfig } from './config.ts';
import { inFile } from './in-file.ts';
import { WorkerLeaving } from './leaving.ts';
import { Presence } from './presence.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

const NAMES = [
  'dispatchAgent',
  'generate',
  'callTool',
  'acceptAnswer',
  'parkAgent',
  'endAgent',
  'resumeSession',
  'scanSessions',
] as const satisfies readonly (keyof ApomeshActivities)[];

type AnyActivity = (input: never) => Promise<unknown>;

/** Activities that were made here, so that a second registration can be told from a clash. */
const ours = new WeakMap<AnyActivity, Pool>();

/** One worker's part of the plugin: its activities, bound to an engine that opens when the worker runs. */
export class Pool {
  readonly config: ResolvedConfig;
  readonly #stores: Stores;
  readonly #closesStores: boolean;
  #activities: ApomeshActivities | null = null;

  constructor(config: ResolvedConfig, stores: Stores, closesStores: boolean) {
    this.config = config;
    this.#stores = stores;
    this.#closesStores = closesStores;
  }

  /** The pool that a worker's activities belong to. */
  static of(activities: WorkerOptions['activities']): Pool | undefined {
    const dispatch = (activities as Partial<Record<string, AnyActivity>> | undefined)?.['dispatchAgent'];
    return dispatch && ours.get(dispatch);
  }

  /** @throws {ConfigInvalidError} naming an activity of the user's own that has the name of one of ours. */
  addTo(activities: WorkerOptions['activities']): Record<string, AnyActivity> {
    const own = (activities ?? {}) as Record<string, AnyActivity>;
    const clash = NAMES.find((name) => name in own);
    if (clash)
      throw new ConfigInvalidError(
        `activities.${clash}`,
        'is the name of an activity of apomesh; rename yours.',
        this.config.file,
      );
    const bound = NAMES.map((name) => {
      const activity: AnyActivity = (input) => this.#opened()[name](input);
      ours.set(activity, this);
      return [name, activity] as const;
    });
    return { ...own, ...Object.fromEntries(bound) };
  }

  get isOpen(): boolean {
    return this.#activities !== null;
  }

  /** Opens the engine, runs, and closes what it opened. The store is ready and the search attributes exist before a task is taken. */
  async run(worker: Worker, next: () => Promise<void>): Promise<void> {
    const opened: (() => unknown)[] = this.#closesStores ? [() => this.#stores.close()] : [];
    try {
      await this.#open(worker, opened).catch(async (error: unknown) => {
        await letGo(worker, next);
        throw error;
      });
      await next();
    } finally {
      this.#activities = null;
      for (const close of opened.reverse()) await close();
    }
  }

  /** @param opened takes what is to be called at the end, even if this fails. */
  async #open(worker: Worker, opened: (() => unknown)[]): Promise<void> {
    const { identity, taskQueue, namespace } = worker.options;
    const { limits } = this.config;
    const id = `${identity}#${randomUUID().slice(0, 8)}`;
    const presence = new Presence(this.#stores, id, taskQueue, limits.heartbeatTimeoutMs);
    const models = createModels(this.config);
    const { connection } = worker;
    await Promise.all([this.#stores.prepare(), connection && ensureSearchAttributes(connection, namespace)]);
    const tools = await inFile(this.config.file, toolset(this.config));
    opened.push(() => tools.close());
    await presence.start();
    opened.push(() => presence.stop());
    // Clients load this file too, and not the worker's native part.
    const { Runtime } = await import('@temporalio/worker');
    const log: Engine['log'] = (message, fields) => Runtime.instance().logger.info(message, fields);
    const sessions = new Sessions(this.#stores);
    const { dataConverter } = worker.options;
    const client = new Client({
      namespace,
      ...(connection && { connection }),
      ...(dataConverter && { dataConverter }),
    });
    const leaving = new WorkerLeaving(worker, limits.shutdownGraceMs);
    opened.push(() => leaving.stop());
    const alive = () => presence.alive();
    this.#activities = createActivities({
      stores: this.#stores,
      models,
      tools,
      limits,
      sessions,
      workflows: new Temporal(client),
      worker: id,
      taskQueue,
      alive,
      leaving,
      log,
    });
    if (connection && this.config.recovery !== null) {
      const warn = (message: string) => Runtime.instance().logger.warn(message);
      const versioned = worker.options.workerDeploymentOptions?.useWorkerVersioning === true;
      const scans = new BootScans({ client, taskQueue, everyMs: this.config.recovery.everyMs, versioned, warn });
      opened.push(() => scans.stop());
      await scans.start();
    }
  }

  #opened(): ApomeshActivities {
    if (!this.#activities) throw new Error('the worker does not run yet');
    return this.#activities;
  }
}

/** Ends a worker that cannot start, before it takes a task: it would hold on to its connection, and so the process. */
async function letGo(worker: Worker, next: () => Promise<void>): Promise<void> {
  let isOver = false;
  const ended = next()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  while (!isOver && worker.getState() === 'INITIALIZED') await sleep(10);
  if (worker.getState() === 'RUNNING') worker.shutdown();
  await ended;
}
