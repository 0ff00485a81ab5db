import { next } from '../src/agent/loop.ts';
import type { DispatchInput, GenerateResult } from '../src/contract/activities.ts';
import type { AgentRun } from '../src/journal/agent-run.ts';
import type { Engine } from './engine.ts';
import { generateOrEnd } from './generation-step.ts';
import { overtaken, reached, requestOf } from './results.ts';
import { within } from './within.ts';

/** Runs an agent's next generation. One that the log has already is given back, not paid again (E5). */
export const generate =
  (engine: Engine) =>
  (input: DispatchInput): Promise<GenerateResult> =>
    within(
      engine,
      input,
      (pinned) => pinned.tools,
      async (begun, pulse): Promise<GenerateResult> => {
        const { run, pinned } = begun;
        const due = next(run.state, pinned.budget, run.elapsedMs());
        if (due.do === 'end') {
          await run.end(due.ending);
          return overtaken(run.log, run.id.agent, run.state.spent);
        }
        if (run.state.calls.length > 0) return generated(run);
        if (pulse.released.aborted) return release(run);
        const node = run.state.node + 1;
        await generateOrEnd(engine, begun, pulse, node, null);
        if (run.transcript.ending) return overtaken(run.log, run.id.agent, run.state.spent);
        if (run.state.node === node) return generated(run);
        return pulse.stopped.aborted ? { kind: 'cancelled', ...reached(run) } : release(run);
      },
    );

async function release(run: AgentRun): Promise<GenerateResult> {
  await run.append(run.snapshot('release', run.state));
  return { kind: 'released', ...reached(run) };
}

function generated(run: AgentRun): GenerateResult {
  const { generation } = run;
  if (!generation) throw new Error(`${run.id.agent} has no generation`);
  const { node, usage, finish, misfit } = generation;
  const calls = generation.calls.map(requestOf);
  return { kind: 'generated', node, usage, finish, misfit: misfit !== null, calls, ...reached(run) };
}
