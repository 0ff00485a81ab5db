import type { ListOptions, SessionSummary } from '../../client/list.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { columns, harmless, jsonLine, line, shortened, styled, when } from '../terminal.ts';

const GOAL_LENGTH = 60;

export const sessions = (options: Common & ListOptions): Promise<number> =>
  withSessions(options, async (all) => {
    const { limit, phase } = options;
    const found = await all.list({ ...(limit !== undefined && { limit }), ...(phase !== undefined && { phase }) });
    if (options.json) {
      await jsonLine(found);
      return 0;
    }
    if (found.length === 0) await line('no sessions');
    const rows = found.map((one) => [
      one.session,
      phaseOf(one),
      when(one.startedAt),
      one.agent ?? '-',
      one.pauses > 0 ? `${one.pauses} waiting` : '',
      harmless(shortened(one.goal ?? one.unreadable ?? '', GOAL_LENGTH)),
    ]);
    const header = ['SESSION', 'PHASE', 'STARTED (UTC)', 'AGENT', 'PAUSES', 'GOAL'];
    const [head = '', ...lines] = columns(found.length === 0 ? [] : [header, ...rows]);
    if (head !== '') await line(styled('dim', head));
    for (const text of lines) await line(text.trimEnd());
    if (found.some(({ recoverable }) => recoverable !== null))
      await line('\nThose with a class in brackets wait for an operator: apomesh recoverable');
    return 0;
  });

const phaseOf = ({ phase, recoverable }: SessionSummary): string =>
  phase === null ? 'unreadable' : `${phase}${recoverable === null ? '' : ` (${recoverable})`}`;
