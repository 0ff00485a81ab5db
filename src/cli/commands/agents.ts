import { UsageError } from '../../contract/errors.ts';
import type { AgentVersion, Change, Publishing } from '../../plugin/publishing.ts';
import type { Json } from '../../session/json.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { columns, harmless, jsonLine, line, shortened, styled, when } from '../terminal.ts';

export interface AgentsCommand extends Common {
  readonly diff?: readonly string[];
}

const VALUE = 100;

export const agents = (name: string | undefined, options: AgentsCommand): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { publishing }) => {
    if (options.diff !== undefined) return diff(publishing, name, options.diff, options);
    const versions = await publishing.list(name);
    if (options.json) {
      await jsonLine(versions);
      return 0;
    }
    if (versions.length === 0) await line('no agents; publish one with: apomesh publish MANIFEST');
    for (const row of columns(versions.map(rowOf))) await line(row);
    return 0;
  });

const rowOf = ({ name, version, digest, at }: AgentVersion): string[] => [
  `${name}@${version}`,
  digest ?? 'of the config, not published',
  at === null ? '' : when(at),
];

async function diff(
  publishing: Publishing,
  name: string | undefined,
  [before, after, ...more]: readonly string[],
  { json }: Common,
): Promise<number> {
  if (name === undefined || before === undefined || after === undefined || more.length > 0) {
    throw new UsageError('name an agent and two versions: apomesh agents NAME --diff 1.0.0 1.1.0.', {
      option: '--diff',
    });
  }
  const changes = await publishing.diff(name, before, after);
  if (json) {
    await jsonLine(changes);
    return 0;
  }
  if (changes.length === 0) await line('no difference');
  for (const change of changes) for (const text of linesOf(change)) await line(text);
  return 0;
}

const linesOf = ({ path, before, after }: Change): string[] => [
  styled('bold', harmless(path)),
  ...(before === null ? [] : [styled('red', `  - ${textOf(before)}`)]),
  ...(after === null ? [] : [styled('green', `  + ${textOf(after)}`)]),
];

const textOf = (value: Json): string =>
  harmless(shortened(typeof value === 'string' ? value : JSON.stringify(value), VALUE));
