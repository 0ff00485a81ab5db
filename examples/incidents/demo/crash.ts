import type { Client } from '@temporalio/client';
import type { Envelope } from 'apomesh';
import type { Child } from './processes.ts';
import { workerOf } from './worker-of.ts';

/** The ledger entry in the middle of which the worker dies; with a model that enters none, this many effects in. */
const LEDGER_ENTRY = 3;
const EFFECT = 12;

/** Gives a function that is told each event and once kills the worker that holds the agent, right after an intent. */
export function crashOnce(client: Client, session: string, started: readonly Child[]) {
  let entries = 0;
  let effects = 0;
  let isDone = false;
  return async ({ type, data }: Envelope): Promise<Child | null> => {
    if (isDone || type !== 'ToolCallStarted') return null;
    effects += 1;
    if (data.tool === 'append_ledger') entries += 1;
    if (entries < LEDGER_ENTRY && effects < EFFECT) return null;
    const worker = await workerOf(client, session, started);
    if (!worker) return null;
    isDone = true;
    process.kill(worker.pid, 'SIGKILL');
    return worker;
  };
}
