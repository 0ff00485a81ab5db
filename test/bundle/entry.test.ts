import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import * as entry from '../../src/workflow.ts';

/** What a workflow must not load: the adapters, and what only Node has. */
const FORBIDDEN = [
  'src/stores/',
  'src/client/',
  'src/plugin/',
  'src/models/',
  'src/tools/',
  'src/journal/',
  'activities/',
  'mongodb/',
];

let bundled: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  bundled = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflow.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
});

describe('the workflow entry', () => {
  it('L7: bundles for the sandbox, and brings no adapter along', () => {
    const map = /sourceMappingURL=data:application\/json;charset=utf-8;base64,(\S+)/.exec(bundled.code)?.[1];
    const { sources } = JSON.parse(Buffer.from(map ?? '', 'base64').toString('utf8')) as { sources: string[] };
    expect(sources.some((source) => source.includes('workflows/session.ts'))).toBe(true);
    expect(sources.filter((source) => FORBIDDEN.some((part) => source.includes(`/${part}`)))).toEqual([]);
    expect(sources.filter((source) => source.startsWith('external ') || source.includes('node:'))).toEqual([]);
  });

  it('exports the workflow under its name, and the kernel', () => {
    expect(Object.keys(entry)).toEqual(expect.arrayContaining(['apomeshSession', 'canonicalJson', 'effectKey']));
  });
});
