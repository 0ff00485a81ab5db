import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ReplayWorkerOptions, WorkerOptions } from '@temporalio/worker';

/** The packages whose code is in a bundle, or runs it: a bundle is good for the versions that it was made with. */
const SDK = ['@temporalio/common', '@temporalio/worker', '@temporalio/workflow'] as const;

type Sdk = Readonly<Record<(typeof SDK)[number], string>>;

/** The built-in workflows as they were bundled when this package was built. */
export interface PrebuiltWorkflows {
  /** Versions of the packages that it was made with. */
  readonly sdk: Sdk;
  readonly code: string;
}

/** The versions that are installed for a module; null where one is missing. */
export function installedSdk(from: URL): Sdk | null {
  const require = createRequire(from);
  try {
    const versions = SDK.map((name) => [name, require(`${name}/package.json`).version]);
    return Object.fromEntries(versions) as Sdk;
  } catch {
    return null;
  }
}

/**
 * The code of the bundled workflows, which spares a worker the seconds that bundling takes; null where there is none (the
 * package runs from source) or where it was made with other versions of the SDK than are installed.
 */
export function prebuiltWorkflows(file: URL): string | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const { sdk, code } = JSON.parse(text) as PrebuiltWorkflows;
  const installed = installedSdk(file);
  return installed !== null && SDK.every((name) => sdk[name] === installed[name]) ? code : null;
}

/**
 * Whether a worker's bundle would be the plain one: nothing of the user's goes into it, and no other plugin has had, or may
 * yet have, a say in it.
 */
export function takesPlainBundle(
  { bundlerOptions, interceptors, dataConverter, plugins }: WorkerOptions | ReplayWorkerOptions,
  isOurs: (plugin: unknown) => boolean,
): boolean {
  return (
    bundlerOptions === undefined &&
    (interceptors?.workflowModules ?? []).length === 0 &&
    dataConverter?.payloadConverterPath === undefined &&
    dataConverter?.failureConverterPath === undefined &&
    (plugins ?? []).every(isOurs)
  );
}
