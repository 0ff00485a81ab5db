import { readFile } from 'node:fs/promises';
import { UsageError } from '../contract/errors.ts';
import type { Json } from '../session/json.ts';

/** The text itself, or what a file holds: `@notes.md`; a text that begins with @ is written `@@`. */
export async function textOrFile(option: string, text: string): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? readText(option, text.slice(1)) : text;
}

/** A JSON value, given as text or as `@file`. */
export async function jsonOrFile(option: string, text: string): Promise<Json> {
  const json = await textOrFile(option, text);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${(error as Error).message}.`, { option });
  }
}

/** A file's text. @throws {UsageError} where it cannot be read or is not UTF-8. */
async function readText(option: string, file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new UsageError(`${option}: the file ${file} cannot be read: ${(error as Error).message}.`, { option, file });
  }
}
