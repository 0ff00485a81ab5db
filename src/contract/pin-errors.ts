import { ApomeshError } from '../session/error.ts';
import { type NotThere, notThere } from './not-there.ts';

/** P1: this worker's code lacks a tool that the session was pinned with. */
export class ToolMissingError extends ApomeshError {
  readonly code = 'TOOL_MISSING';
  constructor(tool: string) {
    super(`this worker has no tool ${tool}, which the session was started with; deploy a worker that has it.`, {
      tool,
    });
  }
}

/** P1: this worker's code has another tool under the name that the session was pinned with. */
export class ToolChangedError extends ApomeshError {
  readonly code = 'TOOL_CHANGED';
  constructor(tool: string, how: string) {
    super(
      `this worker has another tool ${tool} than the session was started with: it ${how}; deploy a worker that has the one before, ` +
        'beside this one, until its sessions are over.',
      { tool, how },
    );
  }
}

/** P4: a pin is missing, truncated, undecodable or altered. */
export class PinCorruptError extends ApomeshError {
  readonly code = 'PIN_CORRUPT';
  /** `digest` is the pin's, or that of a file of it. */
  constructor(digest: string, why: string, agent: string | null = null, version: string | null = null) {
    const of = agent === null ? '' : ` of ${agent}@${version}`;
    const source = agent === null ? 'NAME@VERSION' : `${agent}@${version}`;
    super(
      `the pin ${digest}${of} is ${why}; nothing is substituted. Restore it from what it was made of (\`apomesh publish ` +
        `${source} --verify\` in the folder of the config that has it, or with the path of its manifest instead of the name) or from a ` +
        'backup (`apomesh pins import FILE`), then go on.',
      { digest, why, agent, version },
    );
  }
}

/** P2: an agent names a skill that there is none of, neither in the live catalog when it is sealed nor in its pin later. */
export class SkillNotInBundleError extends ApomeshError {
  readonly code = 'SKILL_NOT_IN_BUNDLE';
  /** `digest` is the pin's; null where it is being sealed. */
  constructor(
    skill: string,
    of: { readonly agent: string; readonly version: string; readonly digest: string | null },
    available: readonly string[],
  ) {
    const where = of.digest === null ? 'the catalog' : `its pin ${of.digest}`;
    const advice =
      of.digest === null
        ? 'Put it there (`apomesh skills put DIR`), or take it off the agent.'
        : 'Publish a version that has it, and start that.';
    super(
      `${of.agent}@${of.version} has the skill ${skill}, and ${where} does not; there is ` +
        `${available.join(', ') || 'none'}. ${advice}`,
      { skill, ...of, available },
    );
  }
}

/** P2: the version was published with other bytes. `where` is the file and line that have it, null where it is of no file. */
export class VersionConflictError extends ApomeshError {
  readonly code = 'VERSION_CONFLICT';
  constructor(agent: string, version: string, digest: string, other: string, where: string | null = null) {
    super(
      `${where === null ? '' : `${where}: `}${agent}@${version} is published as ${digest}, and this makes ${other}; a version never changes: publish this one ` +
        'under another version.',
      { agent, version, digest, other, where },
    );
  }
}

/** A skill's folder or a manifest that is not as it must be. `line` is null where it is about no line. */
export class FileInvalidError extends ApomeshError {
  readonly code = 'CONFIG_INVALID';
  constructor(file: string, line: number | null, why: string) {
    super(`${file}${line === null ? '' : `:${line}`}: ${why}`, { file, line, why });
  }
}

/** What is to be sealed is over `limits.maxBundleBytes`. */
export class BundleTooLargeError extends ApomeshError {
  readonly code = 'BODY_TOO_LARGE';
  constructor(what: string, bytes: number, limit: number) {
    super(`${what} is ${bytes} bytes and the limit is ${limit}; leave files out, or raise limits.maxBundleBytes.`, {
      what,
      bytes,
      limit,
    });
  }
}

/** The live catalog has no such skill. */
export class SkillNotFoundError extends ApomeshError {
  readonly code = 'SKILL_NOT_FOUND';
  constructor(skill: string, available: readonly string[], more: NotThere = {}) {
    super(notThere(`skill ${skill}`, available, more), { skill, available });
  }
}
