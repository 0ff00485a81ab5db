import { hash } from 'node:crypto';
import { z } from 'zod';
import { FileInvalidError, VersionConflictError } from '../contract/pin-errors.ts';
import type { FileRow, PinRow, PinStore, Publications, PublishedEntry } from '../ports/pins.ts';
import { filesOf, openPin } from './open.ts';

type Store = PinStore & Publications;

/** What an import brought. */
export interface Imported {
  readonly pins: number;
  readonly files: number;
  readonly published: number;
}

const FORM = { apomesh: 'pins', v: 1 } as const;

/** Files that are read together. */
const FILES_AT_ONCE = 100;

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
 * Pins with all files that they name and the versions that are published of them, as NDJSON without line ends. Every byte is checked.
 *
 * @throws {PinCorruptError} where one is missing or altered.
 */
export async function* exportPins(store: Store, digests: readonly string[]): AsyncGenerator<string, void, undefined> {
  const count = { pins: 0, files: 0, published: 0 };
  const written = new Set<string>();
  const lineOf = (value: Line): string => JSON.stringify(value);
  yield JSON.stringify(FORM);
  for (const digest of new Set(digests)) {
    const json = await store.pin(digest);
    const files = filesOf(openPin(json, digest)).filter((file) => !written.has(file.digest));
    for (let i = 0; i < files.length; i += FILES_AT_ONCE) {
      const some = files.slice(i, i + FILES_AT_ONCE);
      const contents = await store.files(some);
      for (const [n, file] of some.entries()) {
        yield lineOf({ file: { digest: file.digest, ...encoded(contents[n] ?? new Uint8Array()) } });
        written.add(file.digest);
        count.files += 1;
      }
    }
    yield lineOf({ pin: { digest, json } });
    count.pins += 1;
  }
  const chosen = new Set(digests);
  for (const entry of await store.published()) {
    if (!chosen.has(entry.digest)) continue;
    yield lineOf({ published: { ...entry } });
    count.published += 1;
  }
  yield lineOf({ end: count });
}

/**
 * Puts back what was exported, over what is there under the same digests. All of it is checked before anything is stored.
 *
 * @param file for messages.
 * @throws {FileInvalidError} naming the line that is wrong. {@link VersionConflictError} where a version is published with other bytes.
 */
export async function importPins(store: Store, text: string, file: string): Promise<Imported> {
  const { pins, files, published } = parseArchive(text, file);
  for (const entry of published) {
    const there = (await store.published(entry.name)).find(({ version }) => version === entry.version);
    if (there !== undefined && there.digest !== entry.digest)
      throw new VersionConflictError(entry.name, entry.version, there.digest, entry.digest);
  }
  await store.keep([...files.values(), ...pins.values()]);
  for (const entry of published) {
    const there = await store.publish(entry);
    if (there.digest !== entry.digest)
      throw new VersionConflictError(entry.name, entry.version, there.digest, entry.digest);
  }
  return { pins: pins.size, files: files.size, published: published.length };
}

interface Archive {
  readonly pins: Map<string, PinRow>;
  readonly files: Map<string, FileRow>;
  readonly published: PublishedEntry[];
}

function parseArchive(text: string, file: string): Archive {
  const archive: Archive = { pins: new Map(), files: new Map(), published: [] };
  const [first = '', ...rest] = text.split('\n');
  if (first.trimEnd() !== JSON.stringify(FORM)) {
    throw new FileInvalidError(file, 1, 'is no export of pins; make one with `apomesh pins export FILE`.');
  }
  let ended = false;
  for (const [i, each] of rest.entries()) {
    if (each.trim() === '') continue;
    const at = i + 2;
    if (ended) throw new FileInvalidError(file, at, 'goes on after its end.');
    const parsed = parseLine(each, file, at);
    if ('end' in parsed) ended = isWhole(parsed.end, archive, file, at);
    else add(archive, parsed, file, at);
  }
  if (!ended) throw new FileInvalidError(file, null, 'is cut off: its last line is missing. Export again.');
  checkComplete(archive, file);
  return archive;
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
    archive.published.push(parsed.published);
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
  const lost = published.find(({ digest }) => !pins.has(digest));
  if (lost !== undefined) throw new FileInvalidError(file, null, `lacks the pin of ${lost.name}@${lost.version}.`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function encoded(bytes: Uint8Array): { readonly text: string } | { readonly base64: string } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}
