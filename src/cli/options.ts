import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { readFile } from 'node:fs/promises';
import { UsageError } from '../contract/errors.ts';
import type { Json } from '../session/json.ts';

/** Options that every command takes. */
export interface Common {
  readonly json?: boolean;
  readonly address?: string;
  readonly namespace?: string;
  readonly mongoUri?: string;
  readonly config?: string;
}

/** Adds the options that every command takes. */
export const withCommon = (command: Command): Command =>
  command
    .option('--json', 'write JSON: one value, or one a line where it streams')
    .option('--address <host:port>', 'of Temporal (default: TEMPORAL_ADDRESS, else 127.0.0.1:7233)')
    .option('--namespace <name>', 'of Temporal (default: TEMPORAL_NAMESPACE, else default)')
    .option('--mongo-uri <uri>', "of MongoDB (default: the config's, MONGODB_URI, else mongodb://127.0.0.1:27017)")
    .option('--config <file>', 'default: apomesh.config.{ts,mts,mjs,js} of this folder');

/** A whole number from 0 on. */
export function count(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('give a whole number from 0 on.');
}

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
