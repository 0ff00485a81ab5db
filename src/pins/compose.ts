import type { PinnedAgent } from '../agent/shape.ts';
import type { PinStore } from '../ports/pins.ts';
import type { EnvelopeOf } from '../session/envelopes.ts';
import { checkPin, loadPin, sealedSkillOf } from './open.ts';

/** What a session's start says of what it runs. */
type Started = Pick<EnvelopeOf<'SessionStarted'>['data'], 'pin' | 'shape'>;

/**
 * What a session is composed from, the first time and at every resume: its pin, and nothing that may have changed since (P1).
 *
 * @throws {PinCorruptError}
 * @throws {SkillNotInBundleError} where the pin lacks a skill that the session was started with.
 */
export const compose = async (store: Pick<PinStore, 'pin'>, started: Started): Promise<PinnedAgent> =>
  withSkills(await loadPin(store, started.pin), started);

/** As {@link compose}, with the bytes of every file of a skill checked. */
export const checkComposed = async (store: Pick<PinStore, 'pin' | 'files'>, started: Started): Promise<PinnedAgent> =>
  withSkills(await checkPin(store, started.pin), started);

function withSkills(pinned: PinnedAgent, { pin, shape }: Started): PinnedAgent {
  const names = shape['skills'];
  // Sessions from before there were skills name none.
  if (Array.isArray(names)) for (const name of names) sealedSkillOf(pinned, pin.digest, String(name));
  return pinned;
}
