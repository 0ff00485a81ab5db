import { hash } from 'node:crypto';
import { z } from 'zod';
import { agentNameRule, isAgentName, isVersion } from '../agent/naming.ts';
import { FileInvalidError, VersionConflictError } from '../contract/pin-errors.ts';
import type { FileRow, PinRow, PinStore, Publications, PublishedEntry } from '../ports/pins.ts';
import { contentsOf, filesOf, type NamedPin, openPin, readPin } from './open.ts';
import { linesOf, type TextPieces } from './text-lines.ts';

type Store = PinStore & Publications;

/** What an export has. */
export interface Exported {
  readonly pins: number;
  readonly files: number;
  readonly published: number;
}

/** What an import brought. */
export type Imported = Exported;

const FORM = { apomesh: 'pins', v: 1 } as const;

const time = z.iso.datetime();
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const line = z.union([
  z.strictObject({ pin: z.strictObject({ digest, json: z.string() }) }),
  z.strictObject({
    file: z.union([z.strictObject({ digest, text: z.string() }), z.strictObject({ digest, base64: z.base64() })]),
  }),
  z.strictObject({
    published: z.strictObject({ name: z.string(), version: z.string(), digest, at: z.string() }),
  }),
  z.strictObject({ end: z.strictObject({ pins: z.int(), files: z.int(), published: z.int() }) }),
]);
type Line = z.infer<typeof line>;

/**
 * Pins with all files that they name and the versions that are published of them, as lines of NDJSON, each with its end. Every byte
 * is checked. Returns how many there were of each.
 *
 * @throws {PinCorruptError} where one is missing or altered.
 */
export async function* exportPins(
  store: Store,
  pins: readonly NamedPin[],
): AsyncGenerator<string, Exported, undefined> {
  const count = { pins: 0, files: 0, published: 0 };
  const written = new Set<string>();
  const chosen = new Map(pins.map((pin) => [pin.digest, pin]));
  yield textOf(FORM);
  for (const pin of chosen.values()) {
    const { json, pinned } = await readPin(store, pin);
    const files = filesOf(pinned).filter((file) => !written.has(file.digest));
    for await (const { file, bytes } of contentsOf(store, pin.digest, pinned, files)) {
      yield textOf({ file: { digest: file.digest, ...encoded(bytes) } });
      written.add(file.digest);
      count.files += 1;
    }
    yield textOf({ pin: { digest: pin.digest, json } });
    count.pins += 1;
  }
  for (const entry of await store.published()) {
    if (!chosen.has(entry.digest)) continue;
    yield textOf({ published: { ...entry } });
    count.published += 1;
  }
  yield textOf({ end: count });
  return count;
}

const textOf = (value: Line | typeof FORM): string => `${JSON.stringify(value)}\n`;

/**
 * Puts back what was exported, over what is there under the same digests. All of it is checked before anything is stored.
 *
 * @param text of an export. @param file for messages.
 * @throws {FileInvalidError} naming the line that is wrong. {@link VersionConflictError} where a version is published with other bytes.
 */
export async function importPins(store: Store, text: TextPieces, file: string): Promise<Imported> {
  const { pins, files, published } = await parseArchive(text, file);
  for (const each of published) {
    const there = (await store.published(each.entry.name)).find(({ version }) => version === each.entry.version);
    if (there !== undefined) checkSame(there, each, file);
  }
  await store.keep([...files.values(), ...pins.values()]);
  for (const each of published) checkSame(await store.publish(each.entry), each, file);
  return { pins: pins.size, files: files.size, published: published.length };
}

function checkSame(there: PublishedEntry, { entry, at }: PublishedLine, file: string): void {
  if (there.digest === entry.digest) return;
  throw new VersionConflictError(entry.name, entry.version, there.digest, entry.digest, `${file}:${at}`);
}

/** A published version, and the number of its line. */
interface PublishedLine {
  readonly entry: PublishedEntry;
  readonly at: number;
}

interface Archive {
  readonly pins: Map<string, PinRow>;
  readonly files: Map<string, FileRow>;
  readonly published: PublishedLine[];
}

async function parseArchive(text: TextPieces, file: string): Promise<Archive> {
  const archive: Archive = { pins: new Map(), files: new Map(), published: [] };
  let at = 0;
  let ended = false;
  for await (const each of linesOf(text, file)) {
    at += 1;
    if (at === 1) checkForm(each, file);
    else if (each.trim() !== '') {
      if (ended) throw new FileInvalidError(file, at, 'goes on after its end.');
      const parsed = parseLine(each, file, at);
      if ('end' in parsed) ended = isWhole(parsed.end, archive, file, at);
      else add(archive, parsed, file, at);
    }
  }
  if (!ended) throw new FileInvalidError(file, null, 'is cut off: its last line is missing. Export again.');
  checkComplete(archive, file);
  return archive;
}

function checkForm(first: string, file: string): void {
  if (first.trimEnd() === JSON.stringify(FORM)) return;
  throw new FileInvalidError(file, 1, 'is no export of pins; make one with `apomesh pins export FILE`.');
}

function parseLine(text: string, file: string, at: number): Line {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    throw new FileInvalidError(file, at, 'is none of the lines that an export of pins has.');
  }
}

function add(archive: Archive, parsed: Exclude<Line, { end: unknown }>, file: string, at: number): void {
  if ('published' in parsed) {
    archive.published.push({ entry: parsed.published, at });
    return;
  }
  if ('pin' in parsed) {
    const { digest, json } = parsed.pin;
    const bytes = Buffer.byteLength(json);
    checkDigest(json, digest, file, at);
    openPin(json, digest);
    archive.pins.set(digest, { into: 'pins', ref: { digest, bytes }, json });
    return;
  }
  const { digest } = parsed.file;
  const bytes = 'text' in parsed.file ? Buffer.from(parsed.file.text) : Buffer.from(parsed.file.base64, 'base64');
  checkDigest(bytes, digest, file, at);
  archive.files.set(digest, { into: 'files', ref: { digest, bytes: bytes.length }, bytes });
}

function checkDigest(bytes: string | Uint8Array, digest: string, file: string, at: number): void {
  if (`sha256:${hash('sha256', bytes)}` === digest) return;
  throw new FileInvalidError(file, at, `does not match its digest ${digest}: it was altered.`);
}

function isWhole(end: Imported, { pins, files, published }: Archive, file: string, at: number): true {
  if (end.pins === pins.size && end.files === files.size && end.published === published.length) return true;
  throw new FileInvalidError(file, at, 'says another number of lines than there are: some are missing.');
}

function checkComplete({ pins, files, published }: Archive, file: string): void {
  for (const { ref, json } of pins.values()) {
    const missing = filesOf(openPin(json, ref.digest)).find(({ digest }) => !files.has(digest));
    if (missing !== undefined) throw new FileInvalidError(file, null, `lacks ${missing.what} (${missing.digest}).`);
  }
  const lines = new Map<string, number>();
  for (const { entry, at } of published) {
    const why = faultOf(entry, pins);
    if (why !== null) throw new FileInvalidError(file, at, why);
    const version = `${entry.name}@${entry.version}`;
    const before = lines.get(version);
    if (before !== undefined) throw new FileInvalidError(file, at, `has ${version} again, after line ${before}.`);
    lines.set(version, at);
  }
}

/** Why a version could not have been published as it is here. */
function faultOf({ name, version, digest, at }: PublishedEntry, pins: Archive['pins']): string | null {
  if (!isAgentName(name)) return `has the name ${JSON.stringify(name)}, which ${agentNameRule}.`;
  if (!isVersion(version)) return `has ${name} with ${JSON.stringify(version)}, which is no semantic version.`;
  if (!time.safeParse(at).success)
    return `has ${name}@${version} at ${JSON.stringify(at)}, which is no time of ISO 8601.`;
  const pin = pins.get(digest);
  if (pin === undefined) return `lacks the pin of ${name}@${version}.`;
  const pinned = openPin(pin.json, digest);
  if (pinned.name === name && pinned.version === version) return null;
  return `publishes as ${name}@${version} the pin of ${pinned.name}@${pinned.version}.`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function encoded(bytes: Uint8Array): { readonly text: string } | { readonly base64: string } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}
