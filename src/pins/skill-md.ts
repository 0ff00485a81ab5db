import { FileInvalidError } from '../contract/pin-errors.ts';
import { type Parsed, parseYaml } from './yaml.ts';

/** What a SKILL.md says. */
export interface SkillMd {
  readonly name: string;
  readonly description: string;
  /** What follows the front matter, its line ends as they are. */
  readonly body: string;
}

/** As agentskills.io has it. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;

const FENCE = /^---[ \t]*(?:\r?\n|$)/;
const CLOSING = /^---[ \t]*(?:\r?\n|$)/m;

/** Whether a text may be the name of a skill. */
export const isSkillName = (name: string): boolean => name.length <= MAX_NAME && NAME.test(name);

/**
 * Parses a SKILL.md, strictly: front matter of YAML between two lines of `---`, the first of which is the file's first, with `name` and
 * `description`; then Markdown. A byte order mark is dropped. Fields that nobody knows are left alone.
 *
 * @param file for messages. @param folder the name of the folder that it is in, which must be the skill's.
 * @throws {FileInvalidError} naming file and line.
 */
export function parseSkillMd(bytes: Uint8Array, file: string, folder: string): SkillMd {
  const text = textOf(bytes, file);
  const opening = FENCE.exec(text)?.[0];
  if (opening === undefined) {
    throw new FileInvalidError(
      file,
      1,
      'has no front matter; begin it with a line of ---, name, description, and --- again.',
    );
  }
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing === null)
    throw new FileInvalidError(file, 1, 'its front matter has no end; close it with a line of ---.');
  const parsed = parseYaml(rest.slice(0, closing.index), file, 2);
  if (typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) {
    throw new FileInvalidError(file, 2, 'its front matter has no fields; write name and description.');
  }
  checkOptional(parsed, file);
  return {
    name: checkName(textField(parsed, 'name', file), folder, parsed, file),
    description: checkDescription(textField(parsed, 'description', file), parsed, file),
    body: rest.slice(closing.index + closing[0].length),
  };
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FileInvalidError(file, null, 'is not UTF-8; save it as UTF-8.');
  }
}

const fieldOf = ({ value }: Parsed, field: string): unknown => {
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
};

function textField(parsed: Parsed, field: string, file: string): string {
  const value = fieldOf(parsed, field);
  if (typeof value === 'string') return value;
  if (value === undefined) throw new FileInvalidError(file, 1, `has no ${field}.`);
  throw new FileInvalidError(file, parsed.lineOf(field), `${field} must be text; put it in quotes.`);
}

function checkName(name: string, folder: string, parsed: Parsed, file: string): string {
  const fault = !isSkillName(name)
    ? `the name ${JSON.stringify(name)} must be 1 to 64 of a-z 0-9 and single hyphens between them.`
    : name !== folder
      ? `the name ${name} must be that of its folder, ${folder}; rename one.`
      : null;
  if (fault !== null) throw new FileInvalidError(file, parsed.lineOf('name'), fault);
  return name;
}

function checkDescription(description: string, parsed: Parsed, file: string): string {
  const length = [...description].length;
  const fault =
    description.trim() === ''
      ? 'the description is empty; say what the skill does and when to use it.'
      : length > MAX_DESCRIPTION
        ? `the description has ${length} characters, and ${MAX_DESCRIPTION} are the most.`
        : null;
  if (fault !== null) throw new FileInvalidError(file, parsed.lineOf('description'), fault);
  return description;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isShort = (value: unknown): boolean => isText(value) && [...String(value)].length <= MAX_COMPATIBILITY;
const isMapping = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTools = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((tool) => typeof tool === 'string'));

/** Nothing is done with these; what is not as agentskills.io has it is a mistake all the same. */
const optional: readonly (readonly [field: string, fits: (value: unknown) => boolean, must: string])[] = [
  ['license', isText, 'text'],
  ['compatibility', isShort, `text of at most ${MAX_COMPATIBILITY} characters`],
  ['metadata', isMapping, 'a mapping of names to values'],
  ['allowed-tools', isTools, 'names of tools with spaces between, or a list of them'],
];

function checkOptional(parsed: Parsed, file: string): void {
  for (const [field, fits, must] of optional) {
    const value = fieldOf(parsed, field);
    if (value === undefined || value === null || fits(value)) continue;
    throw new FileInvalidError(file, parsed.lineOf(field), `${field} must be ${must}.`);
  }
}
