import type { AnswerOptions } from '../../client/answer.ts';
import { withSessions } from '../connect.ts';
import { jsonOrFile, textOrFile } from '../given.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export interface AnswerCommand extends Common {
  readonly reason?: string;
  readonly args?: string;
  readonly text?: string;
  readonly result?: string;
  readonly by?: string;
}

export async function answer(id: string, pause: string, decision: string, options: AnswerCommand): Promise<number> {
  const given: AnswerOptions = {
    decision,
    ...(options.by !== undefined && { by: options.by }),
    ...(options.reason !== undefined && { reason: options.reason }),
    ...(options.args !== undefined && { args: await jsonOrFile('--args', options.args) }),
    ...(options.text !== undefined && { text: await textOrFile('--text', options.text) }),
    ...(options.result !== undefined && { result: await jsonOrFile('--result', options.result) }),
  };
  return withSessions(options, async (sessions) => {
    await sessions.get(id).answer(pause, given);
    await (options.json ? jsonLine({ session: id, pause, decision }) : line(`answered ${pause}: ${decision}`));
    return 0;
  });
}
