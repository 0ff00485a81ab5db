import { z } from 'zod';
import { anyPinnedAgent, type PinnedAgent, type SealedSkill } from '../agent/shape.ts';
import { PinCorruptError } from '../contract/errors.ts';
import { SkillNotInBundleError } from '../contract/pin-errors.ts';
import type { PinStore } from '../ports/pins.ts';
import { sha256Hex } from '../session/digest.ts';
import type { Pin } from '../session/envelopes.ts';

/** Files that are checked together. */
const FILES_AT_ONCE = 100;

/** A pin, and where they are known the name and version of its agent, for messages. */
export type NamedPin = Pick<Pin, 'digest'> & { readonly name?: unknown; readonly version?: unknown };

/**
 * Opens a pin's bytes, verified (P4).
 *
 * @throws {PinCorruptError} when they are altered or cannot be read; nothing is substituted.
 */
export function openPin(json: string, digest: string): PinnedAgent {
  const found = `sha256:${sha256Hex(json)}`;
  if (found !== digest) throw new PinCorruptError(digest, `altered (its bytes hash to ${found})`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new PinCorruptError(digest, 'undecodable (not JSON)');
  }
  const parsed = anyPinnedAgent.safeParse(value);
  if (!parsed.success) throw new PinCorruptError(digest, `undecodable (${z.prettifyError(parsed.error)})`);
  return parsed.data;
}

/**
 * What a session was started with (P1), from its SessionStarted's `pin`. The bytes of files are not looked at.
 *
 * @throws {PinCorruptError} naming agent and version.
 */
export const loadPin = async (store: Pick<PinStore, 'pin'>, pin: NamedPin): Promise<PinnedAgent> =>
  (await readPin(store, pin)).pinned;

/** As {@link loadPin}, with the bytes themselves. */
export async function readPin(
  store: Pick<PinStore, 'pin'>,
  { digest, name, version }: NamedPin,
): Promise<{ readonly json: string; readonly pinned: PinnedAgent }> {
  try {
    const json = await store.pin(digest);
    return { json, pinned: openPin(json, digest) };
  } catch (error) {
    throw named(error, name, version);
  }
}

/**
 * As {@link loadPin}, with the bytes of every file checked.
 *
 * @throws {PinCorruptError} naming what is missing or altered.
 */
export async function checkPin(store: Pick<PinStore, 'pin' | 'files'>, pin: Pin): Promise<PinnedAgent> {
  const pinned = await loadPin(store, pin);
  for await (const _checked of contentsOf(store, pin.digest, pinned, filesOf(pinned)));
  return pinned;
}

/**
 * Files that a pin names with their bytes, checked.
 *
 * @param digest of the pin.
 * @throws {PinCorruptError} naming what is missing or altered.
 */
export async function* contentsOf(
  store: Pick<PinStore, 'files'>,
  digest: string,
  pinned: PinnedAgent,
  files: readonly NamedFile[],
): AsyncGenerator<{ readonly file: NamedFile; readonly bytes: Uint8Array }, void, undefined> {
  const whatIs = (wanted: string) => files.find((file) => file.digest === wanted)?.what ?? 'a file';
  for (let i = 0; i < files.length; i += FILES_AT_ONCE) {
    const some = files.slice(i, i + FILES_AT_ONCE);
    const contents = await store.files(some).catch((error: unknown) => {
      throw ofPin(error, whatIs, digest, pinned);
    });
    for (const [n, file] of some.entries()) yield { file, bytes: contents[n] as Uint8Array };
  }
}

/** What is wrong with a file, said of the pin that names it. `what` says for people which file. */
export function ofPin(
  error: unknown,
  what: (digest: string) => string,
  pin: string,
  { name, version }: Pick<PinnedAgent, 'name' | 'version'>,
): unknown {
  if (!(error instanceof PinCorruptError)) return error;
  const digest = String(error.fields['digest']);
  const says = `without ${what(digest)}, which is ${String(error.fields['why'])} (${digest})`;
  return new PinCorruptError(pin, says, name, version);
}

/** A file that a pin names; `what` says for people which. */
export interface NamedFile {
  readonly digest: string;
  readonly bytes: number;
  readonly what: string;
}

/** All files that a pin names, its roles' too, each digest once. */
export function filesOf({ skills, roles }: Pick<PinnedAgent, 'skills' | 'roles'>): NamedFile[] {
  const all = [skills, ...Object.values(roles).map((role) => role.skills)].flat();
  const named = all.flatMap(({ name, body, files }) => [
    ...files.map(({ digest, bytes, path }) => ({ digest, bytes, what: `the file ${path} of the skill ${name}` })),
    { ...body, what: `the text of the skill ${name}` },
  ]);
  return [...new Map(named.map((file) => [file.digest, file])).values()];
}

/** @throws {SkillNotInBundleError} where the agent has no such skill. */
export function sealedSkillOf(
  { name: agent, version, skills }: Pick<PinnedAgent, 'name' | 'version' | 'skills'>,
  digest: string,
  skill: string,
): SealedSkill {
  const found = skills.find(({ name }) => name === skill);
  if (found !== undefined) return found;
  const there = skills.map(({ name }) => name);
  throw new SkillNotInBundleError(skill, { agent, version, digest }, there);
}

function named(error: unknown, name: unknown, version: unknown): unknown {
  if (!(error instanceof PinCorruptError) || typeof name !== 'string') return error;
  return new PinCorruptError(String(error.fields['digest']), String(error.fields['why']), name, String(version));
}
