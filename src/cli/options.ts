import { type Command, InvalidArgumentError } from 'commander';

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

/** Adds a command to a program or to a group of commands; what it does is loaded when it is called, so that others start without it. */
export const adder =
  (parent: Command, done: (exit: number) => void) =>
  <Options extends Common>(
    usage: string,
    description: string,
    action: (options: Options, ...words: string[]) => Promise<number>,
  ): Command =>
    withCommon(parent.command(usage).description(description)).action(async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const words = given.slice(0, -2).flat() as string[];
      done(await action(command.optsWithGlobals<Options>(), ...words));
    });
