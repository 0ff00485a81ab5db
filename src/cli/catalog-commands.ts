import type { Command } from 'commander';
import type { AgentsCommand } from './commands/agents.ts';
import type { GcCommand } from './commands/pins.ts';
import type { PublishCommand } from './commands/publish.ts';
import { adder } from './options.ts';

/** Adds the commands that see to what sessions are started from. */
export function addCatalogCommands(program: Command, done: (exit: number) => void): void {
  const add = adder(program, done);

  const skills = adder(program.command('skills').description('the live catalog of skills'), done);
  skills('put <dir>', 'put a skill (a folder with SKILL.md) into the store', async (options, dir = '') =>
    (await import('./commands/skills.ts')).putSkill(dir, options),
  );
  skills('list', "the skills of the config's folder and of the store", async (options) =>
    (await import('./commands/skills.ts')).listSkills(options),
  );
  skills('show <name>', 'what a skill says, and its files', async (options, name = '') =>
    (await import('./commands/skills.ts')).showSkill(name, options),
  );
  skills('rm <name>', 'take a skill out of the store', async (options, name = '') =>
    (await import('./commands/skills.ts')).removeSkill(name, options),
  );

  add<PublishCommand>(
    'publish <source>',
    'publish an agent: a manifest (YAML, JSON, or a module), or the name of an agent of the config',
    async (options, source = '') => (await import('./commands/publish.ts')).publish(source, options),
  ).option(
    '--verify',
    'publish nothing: check a published version, and restore it where the source has the same bytes',
  );
  add<AgentsCommand>('agents [name]', 'agents with their versions and digests', async (options, name?: string) =>
    (await import('./commands/agents.ts')).agents(name, options),
  ).option('--diff <versions...>', 'what differs between two published versions');

  const pins = adder(program.command('pins').description('what sessions are pinned to'), done);
  pins(
    'export <file...>',
    'write pins (digests, NAME, NAME@VERSION, or all) with their files to the file named last; - is standard output',
    async (options, ...words) => (await import('./commands/pins.ts')).exportPins(words, options),
  ).usage('[options] [name...] <file>');
  pins('import <file>', 'put back what was exported', async (options, file = '') =>
    (await import('./commands/pins.ts')).importPins(file, options),
  );
  pins<GcCommand>('gc', 'delete what no session, version or skill names', async (options) =>
    (await import('./commands/pins.ts')).sweepPins(options),
  )
    .option('--dry-run', 'say what would go, and delete nothing')
    .option('--older-than <duration>', 'spare what was needed later (default: 1 day, at least 1 hour)');
}
