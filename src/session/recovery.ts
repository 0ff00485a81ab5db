import type { Envelope } from './envelopes.ts';

/**
 * What the boot scan makes of a session (R2). The first four need nothing; `resume` is taken up again; the others are left for
 * an operator, each under its name.
 */
export const recoveryClasses = [
  'completed',
  'terminal',
  'live',
  'resume',
  'unreadable',
  'stuck',
  'closed',
  'no-bootstrap',
  'side-effects',
  'pin',
  'failing',
] as const;
export type RecoveryClass = (typeof recoveryClasses)[number];

/** Those that are listed as recoverable. */
export const isListed = (found: RecoveryClass): boolean =>
  found !== 'completed' && found !== 'terminal' && found !== 'live' && found !== 'resume';

/** What an operator is to do about a listed session, by its class. */
export function adviceOn(found: string, session: string): string {
  const resume = `\`apomesh resume ${session}\``;
  const takeover = `\`apomesh resume ${session} --takeover\``;
  switch (found) {
    case 'unreadable':
      return `restore its rows, which \`apomesh verify ${session}\` names`;
    case 'no-bootstrap':
      return 'nobody can resume it; start another session';
    case 'stuck':
      return `deploy a worker that can go on with it, or ${takeover}`;
    case 'side-effects':
      return `look at what it did (\`apomesh effects ${session}\`), then ${resume}`;
    case 'pin':
      return `restore its pin, then ${resume}; if it is live and only lacks a fitting worker, deploy one, or ${takeover}`;
    case 'failing':
      return `see what ends it (\`apomesh tail ${session}\`, the Web UI), then ${resume}`;
    default:
      return resume;
  }
}

/** As often a session is taken up with nothing to show for it, before that is left to a person (R2). */
export const MAX_IDLE_RESUMES = 3;

/**
 * How often a session was resumed since its latest checkpoint, of the coordinator or of an agent (C1, C3). That a worker let an
 * agent go is none: it shows no work.
 */
export function idleResumes(log: readonly Envelope[]): number {
  const isCheckpoint = ({ type, data }: Envelope) =>
    type === 'CoordinatorCheckpoint' || (type === 'AgentSnapshot' && data.source !== 'release');
  return log.slice(log.findLastIndex(isCheckpoint) + 1).filter(({ type }) => type === 'SessionResumed').length;
}
