import { withSessions } from '../connect.ts';
import { findingLines } from '../finding-lines.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export interface RecoverCommand extends Common {
  readonly dryRun?: boolean;
  readonly rebuild?: boolean;
}

export const recover = (options: RecoverCommand): Promise<number> =>
  withSessions(options, async (_, recovery) => {
    const { json = false, dryRun = false, rebuild = false } = options;
    const findings = await recovery.scan({ dryRun, rebuild });
    if (json) {
      await jsonLine(findings);
      return 0;
    }
    if (findings.length === 0) await line('no sessions');
    for (const text of findingLines(findings)) await line(text);
    const resumed = findings.filter((finding) => finding.class === 'resume').length;
    await line(`\n${findings.length} sessions; ${resumed} ${dryRun ? 'would be taken up' : 'taken up'}`);
    return 0;
  });
