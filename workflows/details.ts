import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { answerCommands } from '../src/contract/commands.ts';
import { AWAITING, PHASE } from '../src/contract/search-attributes.ts';
import type { OpenPause } from '../src/contract/session.ts';
import type { Phase } from '../src/session/envelopes.ts';
import type { SessionState } from './state.ts';

/** Shows where the session stands: Markdown for the Web UI, and what lists and filters go by. */
export function show(state: SessionState): void {
  setCurrentDetails(detailsOf(state));
  const awaiting = [...new Set(state.pauses.map(({ kind }) => kind))].toSorted();
  const shown = shownBefore.get(state) ?? { phase: 'running', awaiting: '' };
  if (shown.phase === state.phase && shown.awaiting === awaiting.join()) return;
  shownBefore.set(state, { phase: state.phase, awaiting: awaiting.join() });
  upsertSearchAttributes([
    { key: PHASE, value: state.phase },
    { key: AWAITING, value: awaiting },
  ]);
}

const shownBefore = new WeakMap<SessionState, { phase: Phase; awaiting: string }>();

function detailsOf({ input, phase, pauses, spent, epoch, lastSeq, trouble, cancelReason }: SessionState): string {
  const { budget } = input;
  const limit = (used: number, most: number | null) => (most === null ? `${used}` : `${used} of ${most}`);
  const lines = [
    `**${input.agent}** works on goal \`${input.goal}\``,
    '',
    `- \`${input.root}\`: **${phase}**${epoch > 0 ? `, dispatched ${epoch + 1} times` : ''}`,
    '',
    `| steps | tokens | US$ | tool calls | events |`,
    `|---|---|---|---|---|`,
    `| ${limit(spent.steps, budget.maxSteps)} | ${limit(spent.tokens, budget.maxTokens)} | ${limit(spent.costUsd, budget.maxCostUsd)} | ${limit(spent.toolCalls, budget.maxToolCalls)} | ${lastSeq + 1} |`,
    ...(trouble === null ? [] : ['', `Cannot go on for now: ${trouble}`]),
    ...(cancelReason === null ? [] : ['', 'Cancelled.']),
    ...pauses.flatMap((pause) => pauseLines(input.session, pause)),
  ];
  return lines.join('\n');
}

function pauseLines(session: string, { pause, kind, tool, accepts }: OpenPause): string[] {
  const commands = accepts.map((decision) => answerCommands(session, pause, decision).temporal);
  return [
    '',
    `### Waiting for a person: ${kind}${tool === null ? '' : ` of \`${tool}\``}`,
    '```sh',
    ...commands,
    '```',
  ];
}
