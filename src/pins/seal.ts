import { hash } from 'node:crypto';
import type { DispatchMode } from '../agent/agent.ts';
import type {
  Coordination,
  FileRef,
  PinnedAgent,
  PinnedTool,
  ResolvedBudget,
  SealedRole,
  SealedSkill,
} from '../agent/shape.ts';
import { skillListOf } from '../agent/skill-list.ts';
import { BundleTooLargeError } from '../contract/pin-errors.ts';
import type { FileRow, PinRow } from '../ports/pins.ts';
import type { Skill } from '../ports/skills.ts';
import { bodyOf } from '../session/digest.ts';
import type { Durability } from '../session/envelopes.ts';
import type { JsonObject } from '../session/json.ts';

/** A role as it is defined, with every default filled in. */
export interface ResolvedRole {
  readonly model: string;
  readonly instructions: string;
  /** As written: `server/*` is not expanded yet. */
  readonly tools: readonly string[];
  /** Names. */
  readonly skills: readonly string[];
  readonly budget: ResolvedBudget;
  /** JSON schema of the final answer; null where it is text. */
  readonly output: JsonObject | null;
  readonly dispatch: DispatchMode;
}

/** An agent as a config or a manifest defines it, with every default filled in. */
export interface ResolvedAgent extends ResolvedRole {
  readonly name: string;
  readonly version: string;
  readonly durability: Durability;
  readonly coordination: Coordination;
  readonly roles: Readonly<Record<string, ResolvedRole>>;
}

/** What the names in a role stand for, as it is now. */
export interface Parts {
  readonly tools: readonly PinnedTool[];
  readonly skills: readonly Skill[];
}

/** A pin with all that it points at, to be stored. */
export interface Sealed {
  readonly pinned: PinnedAgent;
  readonly pin: PinRow;
  /** Each once. */
  readonly files: readonly FileRow[];
}

/**
 * Seals an agent with the bytes of its skills (P2, P3). The same agent gives the same digest, whatever the order of keys, of files and
 * of skills, and wherever they lie.
 *
 * @param roles by name, as the agent's.
 * @param maxBytes of the pin and all files together.
 * @throws {BundleTooLargeError}
 */
export function sealAgent(
  agent: ResolvedAgent,
  root: Parts,
  roles: Readonly<Record<string, Parts>>,
  maxBytes: number = Number.POSITIVE_INFINITY,
): Sealed {
  const files = new Map<string, FileRow>();
  const { name, version, durability, coordination } = agent;
  const pinned: PinnedAgent = {
    v: 2,
    name,
    version,
    ...sealRole(agent, root, files),
    durability,
    coordination,
    roles: Object.fromEntries(
      Object.entries(agent.roles).map(([role, each]) => [role, sealRole(each, partsOf(roles, role), files)]),
    ),
  };
  const pin: PinRow = { into: 'pins', ...bodyOf(pinned) };
  const bytes = [...files.values()].reduce((sum, { ref }) => sum + ref.bytes, pin.ref.bytes);
  if (bytes > maxBytes) throw new BundleTooLargeError(`the bundle of ${name}@${version}`, bytes, maxBytes);
  return { pinned, pin, files: [...files.values()] };
}

const partsOf = (roles: Readonly<Record<string, Parts>>, role: string): Parts =>
  roles[role] ?? { tools: [], skills: [] };

function sealRole(role: ResolvedRole, { tools, skills }: Parts, files: Map<string, FileRow>): SealedRole {
  const sealed = new Map(skills.map((skill) => [skill.name, sealSkill(skill, files)]));
  const sorted = [...sealed.values()].sort((a, b) => byCodeUnits(a.name, b.name));
  const { model, instructions, budget, output, dispatch } = role;
  return {
    model,
    instructions,
    tools: [...tools],
    budget,
    output,
    dispatch,
    skills: sorted,
    skillList: skillListOf(sorted),
  };
}

/** @param files takes the rows of the skill's files, by digest. */
export function sealSkill({ name, description, body, files }: Skill, rows: Map<string, FileRow>): SealedSkill {
  const keep = (bytes: Uint8Array): FileRef => {
    const ref = { digest: `sha256:${hash('sha256', bytes)}`, bytes: bytes.length };
    if (!rows.has(ref.digest)) rows.set(ref.digest, { into: 'files', ref, bytes });
    return ref;
  };
  return {
    name,
    description,
    body: keep(Buffer.from(body)),
    files: files.map(({ path, bytes }) => ({ path, ...keep(bytes) })).sort((a, b) => byCodeUnits(a.path, b.path)),
  };
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
