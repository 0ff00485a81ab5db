import type { FileRow, PinRow } from '../../ports/pins.ts';
import type { FileDoc, PinDoc } from './collections.ts';
import { sizeOf } from './rows.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const pinDoc = ({ ref, json }: PinRow, at: string): PinDoc => ({
  _id: ref.digest,
  bytes: sizeOf('a pin', ref.bytes),
  at,
  json,
});

/** Text is kept as it is, so that people can read it; what is not UTF-8 as base64. */
export function fileDoc({ ref, bytes }: FileRow, at: string): FileDoc {
  const head = { _id: ref.digest, bytes: ref.bytes, at };
  try {
    const text = utf8.decode(bytes);
    sizeOf('a file', ref.bytes);
    return { ...head, text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const base64 = Buffer.from(bytes).toString('base64');
    sizeOf('a file', base64.length);
    return { ...head, base64 };
  }
}

/** Null where the document has no bytes. */
export function bytesOf({ text, base64 }: { readonly text?: unknown; readonly base64?: unknown }): Uint8Array | null {
  if (typeof text === 'string') return Buffer.from(text);
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : null;
}
