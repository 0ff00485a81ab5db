import { TemporalUnreachableError } from '../contract/errors.ts';
import type { Workflows } from '../ports/workflows.ts';
import type { Fate } from './faults.ts';
import type { Process } from './process.ts';
import type { Turns } from './turns.ts';

/** Temporal as one process has it: every request waits for its turn, and its answer can be lost. */
export function gatedWorkflows(workflows: Workflows, process: Process, turns: Turns): Workflows {
  const request = <T>(label: string, ask: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const perform = async (fate: Fate) => {
        if (fate === 'crash-before') process.die();
        else if (fate === 'go') ask().then(resolve, reject);
        else {
          if (fate !== 'lost-none') await ask().catch(() => undefined);
          if (fate === 'crash-after') process.die();
          else reject(new TemporalUnreachableError('memory'));
        }
      };
      turns.add({ kind: 'request', label, process, needsTemporal: true, perform });
    });
  return {
    namespace: workflows.namespace,
    describe: (session) => request('asks Temporal of the session', () => workflows.describe(session)),
    start: (input, taskQueue) => request(`starts resume ${input.resume}`, () => workflows.start(input, taskQueue)),
    terminate: (session, runId, reason) =>
      request(`terminates ${runId}`, () => workflows.terminate(session, runId, reason)),
  };
}
