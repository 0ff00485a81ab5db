/** Of SemVer 2.0.0, as semver.org suggests it. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

const MAX_VERSION_LENGTH = 256;

const AGENT_NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** What {@link isAgentName} asks for, for messages. */
export const agentNameRule = 'must be 1 to 100 of a-z 0-9 - _ . and begin with a letter or a digit';

/** Whether an agent may have the name. */
export const isAgentName = (text: string): boolean => AGENT_NAME.test(text);

/** Whether it is a semantic version that can be put in order: of at most 256 characters, with numbers that are exact. */
export function isVersion(text: string): boolean {
  const numbers = text.length <= MAX_VERSION_LENGTH ? SEMVER.exec(text)?.slice(1) : undefined;
  return numbers?.every((each) => Number.isSafeInteger(Number(each))) ?? false;
}
