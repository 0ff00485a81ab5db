import { parse, Range, rcompare, satisfies } from 'semver';
import { isVersion } from '../agent/naming.ts';
import { AgentNotFoundError, UsageError } from '../contract/errors.ts';
import type { PublishedEntry } from '../ports/pins.ts';
import type { ResolvedAgent } from './seal.ts';

/** Something that has a name and a semantic version. */
interface Versioned {
  readonly name: string;
  readonly version: string;
}

/** What a name stands for: a published version, or an agent of the config. */
export type Selected = Versioned & ({ readonly published: PublishedEntry } | { readonly agent: ResolvedAgent });

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
  const all = new Map<string, Selected>();
  const add = (one: Selected) => all.set(`${one.name}@${one.version}`, one);
  for (const agent of agents) add({ name: agent.name, version: agent.version, agent });
  for (const entry of published) add({ name: entry.name, version: entry.version, published: entry });
  return selectVersion(wanted, [...all.values()], (one) => 'agent' in one);
}

/**
 * As {@link selectAgent}, of anything that has versions, no version of a name twice. What is no semantic version is passed over.
 *
 * @param isOwn whether one may be taken as a pre-release where there is no other.
 */
export function selectVersion<T extends Versioned>(
  wanted: string,
  all: readonly T[],
  isOwn: (one: T) => boolean = () => false,
): T {
  const [name, range] = splitName(wanted);
  const ofName = all.filter((one) => one.name === name && isVersion(one.version)).sort(newestFirst);
  const found = range === undefined ? (ofName.find(isStable) ?? ofName.find(isOwn)) : fitting(ofName, range);
  if (found !== undefined) return found;
  const there = ofName.length > 0 ? ofName : [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
  throw new AgentNotFoundError(
    wanted,
    there.map((one) => `${one.name}@${one.version}`),
  );
}

/** The order of versions, the newest first, and last what is no semantic version. */
export const newestFirst = (a: Pick<Versioned, 'version'>, b: Pick<Versioned, 'version'>): number =>
  byPrecedence(a.version, b.version) || (a.version < b.version ? 1 : -1);

function byPrecedence(a: string, b: string): number {
  if (isVersion(a) && isVersion(b)) return rcompare(a, b);
  return Number(isVersion(b)) - Number(isVersion(a));
}

/** `triage` and `^1.2` of `triage@^1.2`. */
export function splitName(wanted: string): [name: string, range?: string] {
  const at = wanted.indexOf('@');
  return at < 0 ? [wanted] : [wanted.slice(0, at), wanted.slice(at + 1)];
}

const isStable = ({ version }: Versioned): boolean => parse(version)?.prerelease.length === 0;

/** @param all newest first. */
function fitting<T extends Versioned>(all: readonly T[], range: string): T | undefined {
  const exact = all.find(({ version }) => version === range);
  if (exact !== undefined) return exact;
  if (range.trim() === '' || !isRange(range)) {
    throw new UsageError(`${JSON.stringify(range)} is neither a version (1.2.0) nor a range (^1.2).`, { range });
  }
  return all.find(({ version }) => satisfies(version, range));
}

function isRange(text: string): boolean {
  try {
    return new Range(text).range !== undefined;
  } catch {
    return false;
  }
}
