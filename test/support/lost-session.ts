import { SessionLiveError } from '../../src/contract/errors.ts';
import type { SessionInput } from '../../src/contract/session.ts';
import type { WorkflowState, Workflows } from '../../src/ports/workflows.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { begun, type LogWriter, ROOT, ref, SESSION } from './logs.ts';
import { agentOf, sealedOf } from './sealing.ts';
import { writeLog } from './written.ts';

const { pin } = sealedOf(agentOf({ name: 'a' }));

/** What a workflow engine knows, and what it was asked to start. */
class Engine implements Workflows {
  readonly namespace = 'default';
  readonly known = new Map<string, WorkflowState>();
  readonly started: SessionInput[] = [];

  async describe(session: string): Promise<WorkflowState | null> {
    return this.known.get(session) ?? null;
  }

  async start(input: SessionInput): Promise<string> {
    if (this.known.get(input.session)?.isOpen) throw new SessionLiveError(input.session);
    this.started.push(input);
    this.known.set(input.session, state('RUNNING'));
    return 'run';
  }

  async terminate(session: string): Promise<boolean> {
    const isOpen = this.known.get(session)?.isOpen ?? false;
    this.known.set(session, state('TERMINATED'));
    return isOpen;
  }
}

export const state = (status: string, failedTasks = 0): WorkflowState => ({
  status,
  isOpen: status === 'RUNNING',
  runId: 'run',
  failedTasks,
});

/** A log whose pin is in the store. */
export const pinned = (writer: LogWriter): Envelope[] =>
  JSON.parse(JSON.stringify(writer.rows).replace(ref(0).digest, pin.ref.digest));

export const plain = () => begun().add('AgentLifecycle', ROOT, { phase: 'running' });
export const resumed = (writer: LogWriter, times: number, from = 0): LogWriter => {
  for (let resume = from + 1; resume <= from + times; resume++)
    writer.add('SessionResumed', null, { resume, cause: 'boot-scan', checkpoint: null, effects: 'reuse' });
  return writer;
};
export const started = (writer: LogWriter) =>
  writer.add('ToolCallStarted', ROOT, { call: 'c', tool: 't', class: 'effect', key: 'k', args: ref(1).digest });
export const snapshot = (writer: LogWriter) =>
  writer.add('AgentSnapshot', ROOT, { ordinal: 1, source: 'node', node: 1, ref: ref(2) });

/** A session as recovery meets it. */
export interface Case {
  readonly log?: Envelope[];
  readonly workflow?: WorkflowState | null;
  readonly listed?: string;
  readonly by?: 'worker';
  readonly now?: string;
}

/** What recovery works over, with one session in it. */
export async function ground({ log = pinned(plain()), workflow = null, listed, by }: Case) {
  const stores = memoryStores();
  const workflows = new Engine();
  await stores.keep([pin]);
  await writeLog(stores, log);
  if (workflow) workflows.known.set(SESSION, workflow);
  const at = '2026-11-30T10:00:00.000Z';
  if (listed) await stores.list({ session: SESSION, class: listed, why: 'as before', at, ...(by && { by }) });
  return { stores, workflows };
}
