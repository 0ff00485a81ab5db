import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { bundle } from '../support/pool.ts';
import { eventsOf, historyOf, type Recorded, recorded } from './histories.ts';
import { modes } from './modes.ts';
import { lostScenarios, scenarios } from './scenarios.ts';

type Bundle = Awaited<ReturnType<typeof bundle>>;

/** What replaying each history with a bundle comes to. */
async function replay(workflowBundle: Bundle, histories: readonly Recorded[]): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  const options = { plugins: [new ApomeshPlugin({})], workflowBundle };
  for await (const { error } of Worker.runReplayHistories(options, histories)) errors.push(error);
  return errors;
}

/** A history in which the workflow asked for another activity, or for none, where it first asked for one. */
function tampered({ history, ...rest }: Recorded): Recorded {
  const events = eventsOf(history).map((event) => JSON.parse(JSON.stringify(event)));
  const asked = events.find((event) => event.activityTaskScheduledEventAttributes);
  if (asked) asked.activityTaskScheduledEventAttributes.activityType.name = 'another';
  else
    for (const event of events)
      if (event.markerRecordedEventAttributes) event.markerRecordedEventAttributes.markerName = 'another';
  return { ...rest, history: historyOf(events) };
}

describe('histories that sessions left behind', () => {
  it('are there of each kind, in both ways of dispatch', () => {
    const names = new Set(recorded().map(({ name }) => name));
    const kinds = [...Object.keys(lostScenarios), ...Object.keys(scenarios)];
    const missing = kinds.flatMap((kind) => modes.map((mode) => `${kind}.${mode}`)).filter((name) => !names.has(name));
    expect(missing).toEqual([]);
    for (const mode of modes) expect(names).toContain(`continued.${mode}.2`);
  });

  it("C4: are replayed by today's workflows", async () => {
    const histories = recorded();
    const errors = await replay(await bundle(), histories);
    expect(histories.filter((_, i) => errors[i] !== undefined).map(({ name }) => name)).toEqual([]);
    expect(errors).toHaveLength(histories.length);
  });

  it('are not replayed by workflows that do anything else', async () => {
    const workflowsPath = fileURLToPath(new URL('./changed-workflows.ts', import.meta.url));
    const changed = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    const histories = recorded();
    const errors = await replay(changed, histories);
    expect(
      histories.filter((_, i) => !(errors[i] instanceof DeterminismViolationError)).map(({ name }) => name),
    ).toEqual([]);
  });

  it('are not replayed where they are tampered with', async () => {
    const histories = recorded().map(tampered);
    const errors = await replay(await bundle(), histories);
    expect(
      histories.filter((_, i) => !(errors[i] instanceof DeterminismViolationError)).map(({ name }) => name),
    ).toEqual([]);
  });
});
