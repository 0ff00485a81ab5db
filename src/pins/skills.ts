import type { FileRef, PinnedAgent, SealedSkill } from '../agent/shape.ts';
import type { SkillToolName } from '../agent/skill-tools.ts';
import type { PinStore } from '../ports/pins.ts';
import type { Json, JsonObject } from '../session/json.ts';
import { ofPin } from './open.ts';

/** What a skill tool tells its agent. */
export interface SkillAnswer {
  readonly outcome: 'ok' | 'error';
  /** A file that is no text is `{ base64 }`. Of an error, a sentence for the model. */
  readonly value: Json;
}

/** As many names are given of what there is. */
const MOST_NAMES = 50;

/**
 * Answers a call of a skill tool with the bytes that were sealed, verified as they are read (P1, P4). What the agent asks for and
 * does not have is told it, with what there is.
 *
 * @param digest of the pin, to name in errors.
 * @throws {PinCorruptError} where the pin names a file and the store lacks it, or has other bytes.
 */
export async function readSkill(
  store: Pick<PinStore, 'files'>,
  pinned: Pick<PinnedAgent, 'name' | 'version' | 'skills'>,
  digest: string,
  tool: SkillToolName,
  args: Json,
): Promise<SkillAnswer> {
  const { name, skill: ofFile, path } = args as JsonObject;
  const wanted = String(tool === 'load_skill' ? name : ofFile);
  const skill = pinned.skills.find((one) => one.name === wanted);
  if (skill === undefined) return unknown(`skill ${wanted}`, namesOf(pinned.skills));
  const read = async (ref: FileRef, what: string): Promise<Uint8Array> => {
    try {
      const [bytes] = await store.files([ref]);
      return bytes as Uint8Array;
    } catch (error) {
      throw ofPin(error, () => `${what} of the skill ${skill.name}`, digest, pinned);
    }
  };
  if (tool === 'load_skill') return { outcome: 'ok', value: textOf(await read(skill.body, 'the text')) };
  const file = fileOf(skill, String(path));
  if (file === undefined) return unknown(`file ${path} in the skill ${skill.name}`, pathsOf(skill));
  return { outcome: 'ok', value: textOf(await read(file, `the file ${file.path}`)) };
}

const namesOf = (skills: readonly SealedSkill[]): string[] => skills.map(({ name }) => name);
const pathsOf = ({ files }: SealedSkill): string[] => files.map(({ path }) => path);

/** A skill's text may say `./references/FORMS.md`. */
const fileOf = ({ files }: SealedSkill, path: string) =>
  files.find((file) => file.path === path || `./${file.path}` === path);

function unknown(what: string, there: readonly string[]): SkillAnswer {
  const more = there.length > MOST_NAMES ? ` and ${there.length - MOST_NAMES} more` : '';
  const names = there.slice(0, MOST_NAMES).join(', ') || 'none';
  return { outcome: 'error', value: `there is no ${what}; there is ${names}${more}` };
}

/** The text as it is, byte for byte. */
function textOf(bytes: Uint8Array): Json {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}
