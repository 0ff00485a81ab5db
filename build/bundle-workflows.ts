import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { installedSdk, type PrebuiltWorkflows } from '../src/plugin/prebuilt-workflows.ts';

type Webpack = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** Bundles the workflows of a folder with built code, into that folder: `node build/bundle-workflows.ts dist`. */
const folder = resolve(process.argv[2] ?? 'dist');
const workflows = join(folder, 'workflows');

/** Where a module is, the same on every machine. */
function placeOf(path: string): string {
  const at = path.lastIndexOf('node_modules/');
  return at < 0 ? relative(folder, path) : path.slice(at);
}

/** Leaves out all that is this machine's: names of modules, comments, and the sources, of which places are enough. */
const everywhere = (webpack: Webpack): Webpack => ({
  ...webpack,
  devtool: 'inline-nosources-source-map',
  optimization: { ...webpack.optimization, moduleIds: 'deterministic' },
  output: {
    ...webpack.output,
    pathinfo: false,
    devtoolModuleFilenameTemplate: ({ absoluteResourcePath }: { absoluteResourcePath: string }) =>
      placeOf(absoluteResourcePath),
  },
});

const { code } = await bundleWorkflowCode({
  workflowsPath: join(workflows, 'index.js'),
  webpackConfigHook: everywhere,
  logger: new DefaultLogger('ERROR'),
});
const sdk = installedSdk(pathToFileURL(workflows));
if (sdk === null) throw new Error('the packages that run workflows are not installed');
await writeFile(join(workflows, 'bundle.json'), JSON.stringify({ sdk, code } satisfies PrebuiltWorkflows));
