import { FileInvalidError } from '../contract/pin-errors.ts';

/** Text, whole or in pieces as a stream gives them, cut anywhere: strings or UTF-8. */
export type TextPieces =
  | string
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array, unknown, undefined>;

/**
 * The lines of a text, without their ends.
 *
 * @param file for messages.
 * @throws {FileInvalidError} where the bytes are not UTF-8.
 */
export async function* linesOf(text: TextPieces, file: string): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decoded = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw new FileInvalidError(file, null, 'is not UTF-8: it was altered.');
    }
  };
  let begun = '';
  for await (const piece of typeof text === 'string' ? [text] : text) {
    const [first = '', ...more] = (typeof piece === 'string' ? piece : decoded(piece)).split('\n');
    begun += first;
    for (const next of more) {
      yield begun;
      begun = next;
    }
  }
  yield begun + decoded();
}
