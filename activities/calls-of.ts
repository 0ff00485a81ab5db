import type { AgentRun } from '../src/journal/agent-run.ts';
import { Calls } from '../src/journal/calls.ts';
import { readSkill } from '../src/pins/skills.ts';
import type { Engine } from './engine.ts';
import type { Pulse } from './pulse.ts';

/** The effect protocol for an agent run on this worker. */
export const callsOf = ({ stores, tools, limits, log }: Engine, run: AgentRun, pulse: Pulse): Calls =>
  new Calls({
    run,
    stores,
    tool: (name) => tools.tool(name),
    skill: (name, args) => readSkill(stores, run.pinned, run.pin, name, args),
    signal: pulse.stopped,
    cancelled: pulse.cancelled,
    leaving: pulse,
    graceMs: limits.doubtGraceMs,
    log,
  });
