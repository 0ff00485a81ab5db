import type { SkillEntry } from '../../ports/skills.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { columns, harmless, jsonLine, line, note, shortened, styled } from '../terminal.ts';

const DESCRIPTION = 80;

export const putSkill = (folder: string, options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { skills }) => {
    const put = await skills.put(folder);
    if (options.json) await jsonLine(put);
    else await line(`put skill ${styled('bold', put.name)}: ${put.files} files, ${put.bytes} bytes`);
    if (put.hiddenBy !== null) note(`${put.hiddenBy} has one of the same name, which goes before it`);
    return 0;
  });

export const listSkills = (options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { skills }) => {
    const entries = await skills.list();
    if (options.json) {
      await jsonLine(entries);
      return 0;
    }
    if (entries.length === 0) await line('no skills; put one with: apomesh skills put DIR');
    for (const row of columns(entries.map(rowOf))) await line(row);
    return 0;
  });

const rowOf = ({ name, description, files, bytes, where, fault }: SkillEntry): string[] => [
  name,
  fault === null ? `${files} files, ${bytes} bytes` : styled('red', 'broken'),
  where,
  harmless(fault ?? shortened(description, DESCRIPTION)),
];

/** Writes SKILL.md, or with --json the skill with the paths and sizes of its files. */
export const showSkill = (name: string, options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { skills }) => {
    const { files, ...skill } = await skills.get(name);
    const listed = files.map(({ path, bytes }) => ({ path, bytes: bytes.length }));
    if (options.json) {
      await jsonLine({ ...skill, files: listed });
      return 0;
    }
    await line(`${styled('bold', skill.name)}: ${harmless(skill.description)}`);
    for (const row of columns(listed.map(({ path, bytes }) => [harmless(path), `${bytes} bytes`]))) await line(row);
    await line(harmless(skill.body));
    return 0;
  });

export const removeSkill = (name: string, options: Common): Promise<number> =>
  withSessions(options, async (_sessions, _recovery, { skills }) => {
    await skills.remove(name);
    if (options.json) await jsonLine({ name });
    else await line(`removed skill ${name}; what was sealed with it keeps it`);
    return 0;
  });
