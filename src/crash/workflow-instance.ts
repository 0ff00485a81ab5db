import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { settle } from './clock.ts';

/** One thing that a workflow is told, as Temporal's core tells it: `{ resolveActivity: { seq, … } }`. */
export type Job = Readonly<Record<string, unknown>>;

/** One thing that a workflow asks for: `{ scheduleActivity: { seq, … } }`. */
export type Command = Readonly<Record<string, Fields | null | undefined>>;
export type Fields = Readonly<Record<string, unknown>>;

/** As much of the SDK's inner parts as drives a workflow. */
interface Activator {
  workflow: unknown;
  workflowTaskError: unknown;
  info: Record<string, unknown>;
  initializeWorkflow(job: unknown): void;
  startWorkflow(job: unknown): void;
  concludeActivation(): { commands: Command[] };
}

interface Sdk {
  readonly Activator: new (options: Record<string, unknown>) => Activator;
  readonly setActivator: (activator: Activator | undefined) => void;
  readonly tryUnblockConditions: () => number;
}

let sdk: Sdk | null = null;

/**
 * The SDK's own workflow runtime, outside of the sandbox it is made for: what is tested is the code of the workflows, and
 * not their isolation.
 */
function loadSdk(): Sdk {
  if (sdk) return sdk;
  const load = createRequire(import.meta.url);
  Object.assign(globalThis, { AsyncLocalStorage });
  const { AsyncLocalStorage: used } = load('@temporalio/workflow/lib/cancellation-scope');
  if (used !== AsyncLocalStorage)
    throw new Error('@temporalio/workflow was loaded before; run crash schedules in a process of their own.');
  const { Activator } = load('@temporalio/workflow/lib/internals');
  const { setActivator } = load('@temporalio/workflow/lib/global-attributes');
  const { tryUnblockConditions } = load('@temporalio/workflow/lib/worker-interface');
  sdk = { Activator, setActivator, tryUnblockConditions };
  return sdk;
}

export const toPayload = (value: unknown): unknown => defaultPayloadConverter.toPayload(value);

export const fromPayload = (payload: unknown): unknown =>
  defaultPayloadConverter.fromPayload(payload as Parameters<typeof defaultPayloadConverter.fromPayload>[0]);

/** The values of a list of payloads. */
export const fromPayloads = (payloads: unknown): unknown[] => ((payloads ?? []) as unknown[]).map(fromPayload);

export const toFailureProto = (error: unknown): unknown =>
  defaultFailureConverter.errorToFailure(error, defaultPayloadConverter);

export const fromFailureProto = (failure: unknown): Error =>
  defaultFailureConverter.failureToError(
    failure as Parameters<typeof defaultFailureConverter.failureToError>[0],
    defaultPayloadConverter,
  );

export interface InstanceOptions {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstExecutionRunId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly startedAt: number;
  /** Seed of the workflow's own randomness. */
  readonly seed: number;
}

/** Code of the workflows, by their type. Loaded once the SDK is ready for it. */
export async function loadWorkflows(): Promise<Readonly<Record<string, unknown>>> {
  loadSdk();
  return (await import('../../workflows/index.ts')) as Readonly<Record<string, unknown>>;
}

/** One workflow in a worker's cache. */
export class WorkflowInstance {
  readonly #sdk = loadSdk();
  readonly #activator: Activator;

  constructor(workflow: unknown, options: InstanceOptions) {
    const { seed, startedAt, ...named } = options;
    this.#activator = new this.#sdk.Activator({
      info: { ...infoOf(startedAt), ...named },
      randomnessSeed: [seed],
      now: startedAt,
      sourceMap: {},
      showStackTraceSources: false,
      stackTracesEnabled: false,
      getTimeOfDay: () => 0n,
      registeredActivityNames: { has: () => true },
    });
    this.#activator.workflow = workflow;
  }

  /** Makes `workflowInfo().continueAsNewSuggested` true. */
  suggestContinueAsNew(): void {
    this.#activator.info = { ...this.#activator.info, continueAsNewSuggested: true };
  }

  /** Tells it one thing, and gives what it asks for then. @throws what would fail the workflow task. */
  async tell(job: Job): Promise<Command[]> {
    const activator = this.#activator;
    const { setActivator, tryUnblockConditions } = this.#sdk;
    setActivator(activator);
    try {
      this.#apply(job);
      do await settle();
      while (tryUnblockConditions() > 0);
      if (activator.workflowTaskError !== undefined) throw activator.workflowTaskError;
      return activator.concludeActivation().commands;
    } finally {
      setActivator(undefined);
    }
  }

  #apply(job: Job): void {
    const [variant, fields] = Object.entries(job)[0] as [string, unknown];
    if (variant === 'initializeWorkflow') {
      this.#activator.initializeWorkflow(fields);
      this.#activator.startWorkflow(fields);
    } else if (variant === 'suggestContinueAsNew') {
      this.suggestContinueAsNew();
    } else {
      const handlers = this.#activator as unknown as Record<string, (fields: unknown) => void>;
      handlers[variant]?.(fields);
    }
  }
}

const infoOf = (startedAt: number) => ({
  namespace: 'default',
  attempt: 1,
  historyLength: 1,
  historySize: 1,
  continueAsNewSuggested: false,
  targetWorkerDeploymentVersionChanged: false,
  startTime: new Date(startedAt),
  runStartTime: new Date(startedAt),
  taskTimeoutMs: 10_000,
  searchAttributes: {},
  unsafe: { now: Date.now, isReplaying: false, isReplayingHistoryEvents: false },
});
