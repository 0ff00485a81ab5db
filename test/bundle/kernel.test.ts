import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger, type InjectedSinks, Runtime, Worker } from '@temporalio/worker';
import { kernelValues } from './kernel-values.ts';
import type { KernelSinks } from './kernel-workflow.ts';

const values = [
  null,
  { b: 1, a: [1e21, 0.1, -0.5, 1e-7, -0], '€': '€\n\u0007', '😀': null, דּ: true },
  JSON.parse('{"__proto__":{"$set":1},"a.b":"\\u0000","10":1,"9":2}'),
  'é😀'.repeat(5_000),
];

/** Numbers of the event types in the history's protocol. */
const STARTED = 1;
const COMPLETED = 2;
const TASK_SCHEDULED = 5;
const TASK_STARTED = 6;
const TASK_COMPLETED = 7;

/** A history of one workflow task that completes the workflow: replaying it needs the real sandbox, and no server. */
function historyOf(workflow: string, args: readonly unknown[]): object {
  const utf8 = new TextEncoder();
  const payloads = args.map((arg) => ({
    metadata: { encoding: utf8.encode('json/plain') },
    data: utf8.encode(JSON.stringify(arg)),
  }));
  const taskQueue = { name: 'kernel' };
  const runId = '00000000-0000-4000-8000-000000000000';
  const started = {
    workflowType: { name: workflow },
    taskQueue,
    input: { payloads },
    workflowTaskTimeout: { seconds: 10 },
  };
  const events = [
    {
      eventType: STARTED,
      workflowExecutionStartedEventAttributes: { ...started, originalExecutionRunId: runId, attempt: 1 },
    },
    { eventType: TASK_SCHEDULED, workflowTaskScheduledEventAttributes: { taskQueue, attempt: 1 } },
    { eventType: TASK_STARTED, workflowTaskStartedEventAttributes: { scheduledEventId: 2 } },
    { eventType: TASK_COMPLETED, workflowTaskCompletedEventAttributes: { scheduledEventId: 2, startedEventId: 3 } },
    { eventType: COMPLETED, workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId: 4 } },
  ];
  const eventTime = { seconds: Date.UTC(2026, 10, 30) / 1_000, nanos: 0 };
  return { events: events.map((event, index) => ({ eventId: index + 1, eventTime, ...event })) };
}

it('F1, L7, E2, T1: the kernel gives the same bytes in the workflow sandbox as in Node', async () => {
  const log = readFileSync(new URL('../vectors/logs/003.ndjson', import.meta.url), 'utf8');
  const reports: string[] = [];
  const sinks: InjectedSinks<KernelSinks> = {
    kernel: { report: { fn: (_info, text) => void reports.push(text), callDuringReplay: true } },
  };
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./kernel-workflow.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  await Worker.runReplayHistory({ workflowBundle, sinks }, historyOf('kernelProbe', [log, values]), 'kernel');
  expect(reports).toEqual([kernelValues(log, values)]);
  expect(JSON.parse(reports[0] as string)).toMatchObject({
    refused: expect.stringContaining('$["b.c"][0]'),
    unreadable: expect.stringContaining('seq 27'),
  });
});
