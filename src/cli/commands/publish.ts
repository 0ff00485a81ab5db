import { withSessions } from '../connect.ts';
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

export const publish = (source: string, options: PublishCommand): Promise<number> =>
  withSessions(
    options,
    async (_sessions, _recovery, { publishing }) => {
      const done = options.verify ? await publishing.verify(source) : await publishing.publish(source);
      if (options.json) await jsonLine(done);
      else await line(`${styled('bold', `${done.name}@${done.version}`)} ${done.digest} ${SAYS[done.outcome]}`);
      return 0;
    },
    { needsConfig: !options.verify },
  );
