import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';

const { History } = proto.temporal.api.history.v1;
type History = ReturnType<typeof History.create>;

const FOLDER = join(import.meta.dirname, 'histories');

/** A history of a workflow as one run left it behind. */
export interface Recorded {
  /** What it is of: `approvals.loop`. */
  readonly name: string;
  readonly workflowId: string;
  readonly history: History;
}

/** The histories that were recorded, an event a line. Temporal's own JSON reads back only where one protobufjs is installed. */
export const recorded = (): Recorded[] =>
  readdirSync(FOLDER)
    .toSorted()
    .map((file) => read(file.slice(0, -'.json'.length)));

function read(name: string): Recorded {
  const { workflowId, events } = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  return { name, workflowId, history: historyOf(events) };
}

/** A history of events as they are kept. */
export const historyOf = (events: readonly object[]): History => History.fromObject({ events });

/** The events of a history as they are kept. */
export const eventsOf = (history: History): Record<string, unknown>[] =>
  History.toObject(history, { bytes: String, longs: String, enums: String })['events'];

/** Writes what the run of a workflow left behind, and the runs that it went on in, each to a file of its own. */
export async function record(
  name: string,
  handle: WorkflowHandle,
  get: (runId: string) => WorkflowHandle,
): Promise<void> {
  const { raw } = await handle.describe();
  let runId = raw.workflowExecutionInfo?.firstRunId ?? '';
  for (let i = 1; runId !== ''; i += 1) {
    const history = History.fromObject(await get(runId).fetchHistory());
    const next = history.events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
    write(i === 1 ? name : `${name}.${i}`, handle.workflowId, history);
    runId = next;
  }
}

function write(name: string, workflowId: string, history: History): void {
  const lines = eventsOf(history).map((event) => JSON.stringify(event));
  const head = `{"workflowId":${JSON.stringify(workflowId)},"events":[`;
  writeFileSync(fileOf(name), `${head}\n${lines.join(',\n')}\n]}\n`);
}

const fileOf = (name: string): string => join(FOLDER, `${name}.json`);
