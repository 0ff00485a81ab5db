import type { PinnedAgent, SealedRole } from '../agent/shape.ts';
import { canonicalJson } from '../session/canonical-json.ts';
import type { Json } from '../session/json.ts';

/** Something that differs between two sealed agents. */
export interface Change {
  /** Such as `skills.refund.files.references/rules.md` or `tools.search.input`. */
  readonly path: string;
  /** Null where it is not in the one. */
  readonly before: Json;
  /** Null where it is not in the other. */
  readonly after: Json;
}

/** What differs between two sealed agents, by path. Of a skill's file that is its digest and size. */
export function diffPins(before: PinnedAgent, after: PinnedAgent): Change[] {
  const [one, other] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...one.keys(), ...other.keys()])].sort();
  return paths
    .map((path) => ({ path, before: one.get(path) ?? null, after: other.get(path) ?? null }))
    .filter((change) => canonicalJson(change.before) !== canonicalJson(change.after));
}

function leavesOf({
  v: _form,
  roles,
  name,
  version,
  durability,
  coordination,
  ...root
}: PinnedAgent): Map<string, Json> {
  const leaves = new Map<string, Json>(
    Object.entries({ name, version, durability, coordination: coordination.kind, params: coordination.params }),
  );
  addRole(leaves, '', root);
  for (const [role, each] of Object.entries(roles)) addRole(leaves, `roles.${role}.`, each);
  return leaves;
}

function addRole(leaves: Map<string, Json>, prefix: string, role: SealedRole): void {
  const { tools, skills, budget, skillList: _follows, ...plain } = role;
  for (const [field, value] of Object.entries(plain)) leaves.set(`${prefix}${field}`, value);
  for (const [limit, value] of Object.entries(budget)) leaves.set(`${prefix}budget.${limit}`, value);
  leaves.set(
    `${prefix}tools`,
    tools.map(({ name }) => name),
  );
  for (const { name, ...tool } of tools) {
    for (const [field, value] of Object.entries(tool)) leaves.set(`${prefix}tools.${name}.${field}`, value);
  }
  leaves.set(
    `${prefix}skills`,
    skills.map(({ name }) => name),
  );
  for (const { name, description, files } of skills) {
    leaves.set(`${prefix}skills.${name}.description`, description);
    for (const { path, digest, bytes } of files) leaves.set(`${prefix}skills.${name}.files.${path}`, { digest, bytes });
  }
}
