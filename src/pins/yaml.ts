import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { FileInvalidError } from '../contract/pin-errors.ts';

/** What a YAML text holds. */
export interface Parsed {
  readonly value: unknown;
  /** The line of the file that a top-level key stands on; null where it is not there. */
  lineOf(key: string): number | null;
}

const A_TAG = 'a tag; write plain YAML';
const TOO_DEEP = 'nested too deeply';

/** Common mistakes, in words that say what to do. */
const ADVICE: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: 'a tab in the indentation; use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a colon within a text; put the text in quotes',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  MULTIPLE_DOCS: 'more than one document; keep one',
  NON_STRING_KEY: 'a key that is no text; put it in quotes',
  TAG_RESOLVE_FAILED: A_TAG,
};

/**
 * Parses YAML 1.2, of which JSON is a part, strictly: one document, no key twice, no anchors, aliases or tags.
 *
 * @param file for messages. @param firstLine the line of the file that the text begins on.
 * @throws {FileInvalidError} naming file and line.
 */
export function parseYaml(text: string, file: string, firstLine = 1): Parsed {
  try {
    return parse(text, file, firstLine);
  } catch (error) {
    // The parser works on the call stack, which has an end.
    if (!(error instanceof RangeError)) throw error;
    throw new FileInvalidError(file, null, `is ${TOO_DEEP}.`);
  }
}

function parse(text: string, file: string, firstLine: number): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, prettyErrors: false });
  const at = (offset: number): number => lines.linePos(offset).line + firstLine - 1;
  const [fault] = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (fault !== undefined) throw new FileInvalidError(file, at(fault.pos[0]), `${adviceOn(fault, document)}.`);
  visit(document, {
    Node(_key, node) {
      const offset = node.range?.[0] ?? 0;
      if (isAlias(node)) throw new FileInvalidError(file, at(offset), `an alias (*${node.source}); write it out.`);
      if (node.anchor !== undefined)
        throw new FileInvalidError(file, at(offset), `an anchor (&${node.anchor}); leave it out.`);
      if (node.tag !== undefined) throw new FileInvalidError(file, at(offset), `${A_TAG}.`);
    },
  });
  const lineOf = (key: string): number | null => {
    const pairs = isMap(document.contents) ? document.contents.items : [];
    const found = pairs.find((pair) => isScalar(pair.key) && pair.key.value === key);
    return found && isNode(found.key) ? at(found.key.range?.[0] ?? 0) : null;
  };
  return { value: document.toJS(), lineOf };
}

function adviceOn({ code, message, pos }: YAMLError, document: Document): string {
  if (code !== 'DUPLICATE_KEY') return ADVICE[code] ?? message;
  let key: unknown;
  visit(document, {
    Scalar(_key, { range, value }) {
      if (range?.[0] !== pos[0]) return undefined;
      key = value;
      return visit.BREAK;
    },
  });
  return `the key ${key === undefined ? '' : `${JSON.stringify(key)} `}is there twice; keep one`;
}
