import type * as apomesh from 'apomesh/workflow';

// biome-ignore lint/performance/noReExportAll: what the documentation tells users to write
export * from 'apomesh/workflow';

/** A workflow of the user's own, beside ours. */
export async function greeting(name: string): Promise<string> {
  const ours: keyof typeof apomesh = 'apomeshSession';
  return `hello ${name}, said ${ours}`;
}
