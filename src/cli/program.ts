import { createRequire } from 'node:module';
import { Command, CommanderError, Option } from 'commander';
import type { ListOptions } from '../client/list.ts';
import { effectModes } from '../contract/recovery.ts';
import { addCatalogCommands } from './catalog-commands.ts';
import type { AnswerCommand } from './commands/answer.ts';
import type { CancelCommand } from './commands/cancel.ts';
import type { DevCommand } from './commands/dev.ts';
import type { OutputCommand } from './commands/output.ts';
import type { RecoverCommand } from './commands/recover.ts';
import type { ResumeCommand } from './commands/resume.ts';
import type { StartCommand } from './commands/start.ts';
import type { TailCommand } from './commands/tail.ts';
import type { WorkerCommand } from './commands/worker.ts';
import { fail } from './failure.ts';
import { adder, type Common, count, withCommon } from './options.ts';
import { bearWithClosedPipes, flushed } from './terminal.ts';

/** Runs the command line and ends the process with the exit code that goes with what came of it. */
export async function main(args: readonly string[]): Promise<never> {
  bearWithClosedPipes();
  const exit = await run(args);
  await flushed();
  return process.exit(exit);
}

async function run(args: readonly string[]): Promise<number> {
  let exit: number | undefined;
  const program = build((code) => {
    exit = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exit ?? 0;
  } catch (error) {
    const json = args.includes('--json');
    if (!(error instanceof CommanderError)) return fail(error, json);
    if (error.exitCode === 0) return 0;
    // Help that nobody asked for has said all there is to say.
    if (error.code === 'commander.help') return 2;
    // Loads Temporal's part of the errors, which `fold` and `--help` start without.
    const { UsageError } = await import('../contract/errors.ts');
    return fail(new UsageError(sentenceOf(error.message)), json);
  }
}

const sentenceOf = (message: string): string => {
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n');
  return [first, ...more].join(' ').replace(/([^.)!?])$/, '$1.');
};

function build(done: (exit: number) => void): Command {
  const program = withCommon(new Command('apomesh'))
    .description('Durable agent sessions on Temporal and MongoDB.')
    .version(versionOf(), '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: false });

  const add = adder(program, done);
  add<DevCommand>(
    'dev',
    'start what is missing (Temporal, MongoDB) and a worker; Ctrl-C stops what was started',
    async (options) => (await import('./commands/dev.ts')).dev(options),
  )
    .option('--no-worker', 'only the servers')
    .option('--data <dir>', 'where their data stays', '.apomesh')
    .option('--task-queue <name>', "the worker's");
  add<WorkerCommand>('worker', 'a worker for this config, against a running Temporal and MongoDB', async (options) =>
    (await import('./commands/worker.ts')).worker(options),
  ).option('--task-queue <name>', 'default: apomesh');
  add<StartCommand>(
    'start <agent>',
    'start a session of an agent (NAME, NAME@1.2.0 or NAME@^1.2)',
    async (options, agent = '') => (await import('./commands/start.ts')).start(agent, options),
  )
    .requiredOption('--goal <text>', 'what it is to do, or @FILE')
    .option('--id <id>', "the session's id (default: made of the agent's name and the date)")
    .addOption(new Option('--durability <level>', "default: the agent's").choices(['checkpointed', 'replayable']))
    .option('--task-queue <name>', 'of the worker pool that runs it (default: apomesh)')
    .option('--follow', 'show what it does until it ends, then its output');
  add<Common & ListOptions>('sessions', 'list sessions, the newest first', async (options) =>
    (await import('./commands/sessions.ts')).sessions(options),
  )
    .option('--limit <n>', 'how many at most', count, 100)
    .addOption(
      new Option('--phase <phase>', 'only those in it').choices([
        ...['born', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'exhausted'],
      ]),
    );
  add('show <session>', 'where a session stands', async (options, session = '') =>
    (await import('./commands/show.ts')).show(session, options),
  );
  add(
    'effects <session>',
    'what a session did to the world, with arguments and results',
    async (options, session = '') => (await import('./commands/effects.ts')).effects(session, options),
  );
  add<TailCommand>('tail <session>', 'follow what a session logs, to its end', async (options, session = '') =>
    (await import('./commands/tail.ts')).tail(session, options),
  ).option('--from <seq>', 'first event to show', count, 0);
  add<OutputCommand>('output <session>', "wait for a session's output and write it", async (options, session = '') =>
    (await import('./commands/output.ts')).output(session, options),
  ).option('--no-wait', 'fail where it goes on');
  add('pauses [session]', 'what waits for a person, of one session or all', async (options, session?: string) =>
    (await import('./commands/pauses.ts')).pauses(session, options),
  );
  add<AnswerCommand>(
    'answer <session> <pause> <decision>',
    'answer a pause',
    async (options, session = '', pause = '', decision = '') =>
      (await import('./commands/answer.ts')).answer(session, pause, decision, options),
  )
    .option('--reason <text>', 'why: with reject and fail')
    .option('--args <json>', 'new arguments: with edit; or @FILE')
    .option('--text <text>', 'the answer to a question; or @FILE')
    .option('--result <json>', 'what the effect gave: with happened; or @FILE')
    .option('--by <name>', 'who answers');
  add<CancelCommand>('cancel <session>', 'ask a session to end', async (options, session = '') =>
    (await import('./commands/cancel.ts')).cancel(session, options),
  ).option('--reason <text>', 'why');
  add('recoverable', 'sessions that were lost and wait for an operator, each with its class and why', async (options) =>
    (await import('./commands/recoverable.ts')).recoverable(options),
  );
  add<RecoverCommand>(
    'recover',
    'see to every session as a boot scan does: resume what was lost, list what needs a person',
    async (options) => (await import('./commands/recover.ts')).recover(options),
  )
    .option('--dry-run', 'say what it would do, and do nothing')
    .option('--rebuild', 'first derive from the logs what sessions are listed by, and which are over');
  add<ResumeCommand>('resume <session>', 'take up a session that was lost', async (options, session = '') =>
    (await import('./commands/resume.ts')).resume(session, options),
  )
    .addOption(
      new Option('--effects <mode>', 'what replaced agents did is served (reuse) or done again (rerun)')
        .choices([...effectModes])
        .default('reuse'),
    )
    .option('--takeover', 'end a workflow whose tasks keep failing, and go on without it');
  add('export <session>', "write a session's log, one envelope a line", async (options, session = '') =>
    (await import('./commands/export.ts')).exportLog(session, options),
  );
  add(
    'fold [file]',
    'fold a log (NDJSON of a file, or - or nothing for stdin) to a view; needs no servers',
    async (options, file?: string) => (await import('./commands/fold.ts')).foldFile(file, options),
  );
  add('verify <session>', "check a session's log, bodies, pin and journal", async (options, session = '') =>
    (await import('./commands/verify.ts')).verify(session, options),
  );
  addCatalogCommands(program, done);
  return program;
}

const versionOf = (): string => createRequire(import.meta.url)('apomesh/package.json').version;
