import { parse, Range, rcompare, satisfies } from 'semver';
import { AgentNotFoundError, UsageError } from '../contract/errors.ts';
import type { PublishedEntry } from '../ports/pins.ts';
import type { ResolvedAgent } from './seal.ts';

/** What a name stands for: a published version, or an agent of the config. */
export type Selected = { readonly published: PublishedEntry } | { readonly agent: ResolvedAgent };

interface Candidate {
  readonly version: string;
  readonly selected: Selected;
}

/**
 * What `NAME`, `NAME@1.2.0` or `NAME@^1.2` stands for: the newest version that fits, of the published ones and the config's own,
 * where a published version goes before the same one of the config. A pre-release is taken only where it is asked for, or where the
 * config has it and there is no other.
 *
 * @param published all versions of the name, and of others if need be.
 * @throws {AgentNotFoundError} naming those there are.
 * @throws {UsageError} where what follows the @ is neither a version nor a range.
 */
export function selectAgent(
  wanted: string,
  agents: readonly ResolvedAgent[],
  published: readonly PublishedEntry[],
): Selected {
  const [name = '', range] = splitName(wanted);
  const candidates = candidatesOf(name, agents, published);
  const found = range === undefined ? newest(candidates) : fitting(candidates, range);
  if (found !== undefined) return found.selected;
  const all = [...published, ...agents].map((each) => `${each.name}@${each.version}`);
  const same = candidates.map(({ version }) => `${name}@${version}`);
  throw new AgentNotFoundError(wanted, same.length > 0 ? same : [...new Set(all)].sort());
}

/** `triage` and `^1.2` of `triage@^1.2`. */
export function splitName(wanted: string): [name: string, range?: string] {
  const at = wanted.indexOf('@');
  return at < 0 ? [wanted] : [wanted.slice(0, at), wanted.slice(at + 1)];
}

/** Newest first. */
function candidatesOf(
  name: string,
  agents: readonly ResolvedAgent[],
  published: readonly PublishedEntry[],
): Candidate[] {
  const versions = new Map<string, Candidate>();
  for (const agent of agents) {
    if (agent.name === name) versions.set(agent.version, { version: agent.version, selected: { agent } });
  }
  for (const entry of published) {
    if (entry.name === name) versions.set(entry.version, { version: entry.version, selected: { published: entry } });
  }
  return [...versions.values()].sort((a, b) => rcompare(a.version, b.version) || (a.version < b.version ? 1 : -1));
}

const newest = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.find(({ version }) => parse(version)?.prerelease.length === 0) ??
  candidates.find(({ selected }) => 'agent' in selected);

function fitting(candidates: readonly Candidate[], range: string): Candidate | undefined {
  const exact = candidates.find(({ version }) => version === range);
  if (exact !== undefined) return exact;
  if (range.trim() === '' || !isRange(range)) {
    throw new UsageError(`${JSON.stringify(range)} is neither a version (1.2.0) nor a range (^1.2).`, { range });
  }
  return candidates.find(({ version }) => satisfies(version, range));
}

function isRange(text: string): boolean {
  try {
    return new Range(text).range !== undefined;
  } catch {
    return false;
  }
}
