import { ConfigInvalidError } from '../../contract/errors.ts';
import { isManifestPath } from '../../plugin/manifest.ts';
import { hasConfig, withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line, styled } from '../terminal.ts';

export interface PublishCommand extends Common {
  readonly verify?: boolean;
}

const SAYS = {
  published: 'published',
  unchanged: 'is published, and whole',
  restored: 'was damaged, and is restored',
} as const;

export async function publish(source: string, options: PublishCommand): Promise<number> {
  const needsConfig = !options.verify;
  if (needsConfig && !isManifestPath(source) && !(await hasConfig(options))) {
    const why = `there is no config here that could have the agent ${source}, and ${source} is no path of a manifest`;
    throw new ConfigInvalidError('(file)', `${why}; give --config, or a path such as ./${source}.yaml.`, process.cwd());
  }
  return withSessions(
    options,
    async (_sessions, _recovery, { publishing }) => {
      const done = options.verify ? await publishing.verify(source) : await publishing.publish(source);
      if (options.json) await jsonLine(done);
      else await line(`${styled('bold', `${done.name}@${done.version}`)} ${done.digest} ${SAYS[done.outcome]}`);
      return 0;
    },
    { needsConfig },
  );
}
