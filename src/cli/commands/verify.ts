import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line, styled } from '../terminal.ts';

const UNSOUND = 5;

export const verify = (id: string, options: Common): Promise<number> =>
  withSessions(options, async (sessions) => {
    const found = await sessions.get(id).verify();
    if (options.json) {
      await jsonLine(found);
    } else {
      const { events, bodies, effects, problems } = found;
      const { intents, outcomes, duplicates, open } = effects;
      await line(`${events} events, ${bodies} bodies`);
      await line(
        `effects: ${intents} intents, ${outcomes} outcomes, ${duplicates} duplicates, ${open} without an outcome`,
      );
      if (!found.isEndKnown)
        await line(
          'the session goes on, and Temporal did not say how far: what is missing at the very end is not seen',
        );
      for (const { seq, code, message } of problems)
        await line(`${styled('red', code)}${seq === null ? '' : ` at seq ${seq}`}: ${message}`);
      await line(found.ok ? styled('green', 'sound') : styled('red', `${problems.length} problems`));
    }
    return found.ok ? 0 : UNSOUND;
  });
