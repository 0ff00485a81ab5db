import type { SealedSkill } from './shape.ts';

const OPENING = [
  '',
  '',
  '# Skills',
  '',
  'Each skill below holds instructions for one kind of work. When one fits what you are about to do, load it with the ' +
    '`load_skill` tool before you begin, and follow it; `read_skill_file` reads the files that it names.',
  '',
];

/** What an agent is told of its skills, put after its instructions when it is sealed. Empty where there are none. */
export function skillListOf(skills: readonly Pick<SealedSkill, 'name' | 'description'>[]): string {
  if (skills.length === 0) return '';
  const lines = skills.map(({ name, description }) => `- ${name}: ${description.split(/\s+/).join(' ').trim()}`);
  return [...OPENING, ...lines].join('\n');
}
