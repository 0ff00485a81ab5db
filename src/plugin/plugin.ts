import { fileURLToPath } from 'node:url';
import { SimplePlugin } from '@temporalio/plugin';
import type { BundleOptions, ReplayWorkerOptions, Worker, WorkerOptions } from '@temporalio/worker';
import { ConfigInvalidError } from '../contract/errors.ts';
import type { Stores } from '../ports/store.ts';
import { openStores } from './backends.ts';
import { type ApomeshConfig, type MongoConfig, parseConfig, type ResolvedConfig } from './config.ts';
import { Pool } from './pool.ts';
import { prebuiltWorkflows, takesPlainBundle } from './prebuilt-workflows.ts';

export interface ApomeshPluginOptions {
  /** Where the store is; before the config's `mongo`. */
  readonly mongo?: MongoConfig;
  /** A store of your own, such as `memoryStores()` of `apomesh/testing`, instead of MongoDB. It is not closed. */
  readonly stores?: Stores;
  /** Where the config was read, to name in errors. */
  readonly file?: string;
}

/** The built-in workflows file, beside this one in the same form (source or built). */
const WORKFLOWS = fileURLToPath(new URL(`../../workflows/index${import.meta.url.slice(-3)}`, import.meta.url));

/** The same bundled, where this package is built. */
const PREBUILT = new URL('../../workflows/bundle.json', import.meta.url);

/**
 * apomesh as a Temporal plugin: for workers, clients, connections, replay workers and `bundleWorkflowCode`. Registered
 * twice it applies once. A worker without a `workflowsPath` or `workflowBundle` gets the built-in workflows, bundled before where nothing
 * of its own goes into the bundle; a workflows file of your own says `export * from 'apomesh/workflow'`.
 *
 * @throws {ConfigInvalidError} for a config that is wrong, naming the field.
 */
export class ApomeshPlugin extends SimplePlugin {
  readonly config: ResolvedConfig;
  readonly #given: Stores | undefined;
  readonly #mongo: MongoConfig | undefined;

  constructor(config: ApomeshConfig | ResolvedConfig, options: ApomeshPluginOptions = {}) {
    super({ name: 'apomesh' });
    this.config = parseConfig(config, options.file ?? null);
    this.#given = options.stores;
    this.#mongo = options.mongo;
  }

  /**
   * A store for this config. Whoever opens it closes it, unless it was given to the plugin.
   */
  openStores(): Stores {
    return this.#given ?? openStores(this.config, this.#mongo);
  }

  /** Whether {@link openStores} gives a store that the plugin was given. */
  get hasOwnStores(): boolean {
    return this.#given !== undefined;
  }

  override configureWorker(options: WorkerOptions): WorkerOptions {
    const pool = Pool.of(options.activities);
    if (pool?.config === this.config) return options;
    if (pool)
      throw new ConfigInvalidError(
        'plugins',
        'has two apomesh plugins with configs of their own; give one.',
        this.config.file,
      );
    const { heartbeatTimeoutMs, stickyQueueTimeoutMs, shutdownGraceMs } = this.config.limits;
    const configured = super.configureWorker(options);
    const own = new Pool(this.config, this.openStores(), !this.hasOwnStores);
    return {
      stickyQueueScheduleToStartTimeout: stickyQueueTimeoutMs,
      shutdownGraceTime: shutdownGraceMs,
      maxHeartbeatThrottleInterval: heartbeatTimeoutMs / 3,
      defaultHeartbeatThrottleInterval: heartbeatTimeoutMs / 3,
      ...versioning(this.config),
      ...configured,
      ...builtInWorkflows(configured),
      activities: own.addTo(configured.activities),
    };
  }

  override configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions {
    const configured = super.configureReplayWorker(options);
    return { ...configured, ...builtInWorkflows(configured) };
  }

  override configureBundler(options: BundleOptions): BundleOptions {
    return super.configureBundler({ ...options, workflowsPath: options.workflowsPath || WORKFLOWS });
  }

  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const pool = Pool.of(Object.fromEntries(worker.options.activities));
    const run = () => super.runWorker(worker, next);
    if (!pool || pool.isOpen) return run();
    await pool.run(worker, run);
  }
}

const isOurs = (plugin: unknown): boolean => plugin instanceof ApomeshPlugin;

/** What a worker is told of its build, where `Worker.create` does not say so itself. */
function versioning({ deployment }: ResolvedConfig): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (deployment === null) return {};
  const version = { deploymentName: deployment.name, buildId: deployment.buildId };
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } };
}

/** The workflows of a worker that has none of its own. */
function builtInWorkflows(
  options: WorkerOptions | ReplayWorkerOptions,
): Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle'> {
  if (options.workflowsPath !== undefined || options.workflowBundle !== undefined) return {};
  const code = takesPlainBundle(options, isOurs) ? prebuiltWorkflows(PREBUILT) : null;
  return code === null ? { workflowsPath: WORKFLOWS } : { workflowBundle: { code } };
}
