import { type Effect, effectsOf } from '../../client/effects.ts';
import type { SessionHandle } from '../../client/handle.ts';
import { shellWord } from '../../contract/commands.ts';
import { fold } from '../../session/fold.ts';
import type { AgentView, SessionView } from '../../session/view.ts';
import { withSessions } from '../connect.ts';
import { effectRows } from '../effect-lines.ts';
import { standstillLine } from '../finding-lines.ts';
import type { Common } from '../options.ts';
import { pauseLines } from '../pause-lines.ts';
import { columns, harmless, jsonLine, line, shortened, styled } from '../terminal.ts';

const GOAL_LENGTH = 400;
const OUTPUT_LENGTH = 2_000;

/** Effects with an outcome that are shown: the latest. */
const SETTLED = 10;

export const show = (id: string, options: Common): Promise<number> =>
  withSessions(options, async (sessions) => {
    const session = sessions.get(id);
    const log = await session.events();
    const view = fold(log);
    if (options.json) await jsonLine(view);
    else for (const text of await lines(session, view, effectsOf(log))) await line(text);
    return 0;
  });

async function lines(session: SessionHandle, view: SessionView, effects: readonly Effect[]): Promise<string[]> {
  const { bootstrap, root, usage, sideEffects, resumes, lastSeq } = view;
  const phase = root === null ? 'born' : (view.agents[root]?.phase ?? 'born');
  const shape = bootstrap?.shape ?? {};
  const standstill = view.terminal ? null : await session.standstill();
  const facts = [
    ['phase', view.reason === null ? phase : `${phase}: ${view.reason}`],
    ...(standstill === null ? [] : [['note', standstillLine(standstill)]]),
    ['goal', bootstrap === null ? '(not on the log)' : harmless(shortened(bootstrap.goal, GOAL_LENGTH))],
    ...(bootstrap === null
      ? []
      : [['agent', `${shape['agent']}@${shape['version']} on ${shape['model']}, ${bootstrap.durability}`]]),
    ...(bootstrap === null ? [] : [['runs on', `namespace ${bootstrap.namespace}, task queue ${bootstrap.taskQueue}`]]),
    ...(bootstrap === null ? [] : [['pin', bootstrap.pin.digest]]),
    ['log', `${lastSeq + 1} events${resumes > 0 ? `, resumed ${resumes} times` : ''}`],
    ['usage', `${usage.inputTokens} tokens in, ${usage.outputTokens} out, $${usage.costUsd.toFixed(4)}`],
    ['effects', String(sideEffects)],
  ];
  const agents = Object.values(view.agents).map(agentRow);
  const pauses = view.pauses.length === 0 ? [] : await session.pauses();
  const outcome = view.terminal ? await session.outcome() : null;
  const said = outcome?.output ?? outcome?.detail ?? null;
  const output = typeof said === 'string' ? said : JSON.stringify(said, null, 2);
  return [
    styled('bold', view.session),
    ...columns(facts).map((fact) => `  ${fact}`),
    '',
    styled('dim', 'agents'),
    ...columns(agents).map((agent) => `  ${agent.trimEnd()}`),
    ...effectSection(view.session, effects),
    ...pauses.flatMap((pause) => ['', ...pauseLines(pause)]),
    ...(said === null
      ? []
      : ['', styled('dim', outcome?.output === null ? 'detail' : 'output'), harmless(output).slice(0, OUTPUT_LENGTH)]),
  ];
}

/** The effects that have no outcome, and the latest of those that have. */
function effectSection(session: string, effects: readonly Effect[]): string[] {
  if (effects.length === 0) return [];
  const latest = new Set(effects.filter(({ outcome }) => outcome !== null).slice(-SETTLED));
  const shown = effects.filter((effect) => effect.outcome === null || latest.has(effect));
  const left = effects.length - shown.length;
  return [
    '',
    `${styled('dim', 'effects')}${left > 0 ? ` (${left} more)` : ''}`,
    ...effectRows(shown).map((row) => `  ${row}`),
    `  ${styled('dim', '$')} apomesh effects ${shellWord(session)}`,
  ];
}

function agentRow({ ref, phase, epoch, resuming, superseded, snapshot, reason }: AgentView): string[] {
  const state = [
    ...(reason === null ? [] : [reason]),
    ...(epoch > 0 ? [`dispatched ${epoch + 1} times`] : []),
    ...(resuming ? ['resuming'] : []),
    ...(superseded ? ['superseded'] : []),
    ...(snapshot === null ? [] : [`snapshot ${snapshot.ordinal} at node ${snapshot.node}`]),
  ];
  return [ref, phase, state.join(', ')];
}
