import type { Answer } from '../contract/session.ts';
import type { ApomeshConfig } from '../plugin/config.ts';
import type { Envelope } from '../session/envelopes.ts';
import type { OpenPauseView } from '../session/view.ts';

/** What a scene is made with. Whatever it decides by chance must come from here, so that a seed plays again. */
export interface Stage {
  /** From 0 up to 1. */
  readonly random: () => number;
  /**
   * A request to something outside of the worker, such as a payment service: it is served after some milliseconds, whatever
   * becomes of the worker meanwhile.
   */
  readonly remote: <T>(ms: number, serve: () => T) => Promise<T>;
}

/** What one crash schedule is played with, made anew for each. */
export interface CrashScene {
  /** Time is virtual, so that timers of its tools and models cost nothing. */
  readonly config: ApomeshConfig;
  /**
   * Its tools or models do real work, with files or sockets: time stands still while they are at it, for 100 ms at most. A seed
   * then plays again as far as that work does. Default false.
   */
  readonly realWork?: boolean;
  /** Name of the agent that is started. */
  readonly agent: string;
  /** Default `play`. */
  readonly goal?: string;
  /** What a person says to an open pause. Default: any of what it accepts. */
  readonly answer?: (pause: OpenPauseView, random: () => number) => Omit<Answer, 'pause'>;
  /** What must hold beyond what always must, at the end; gives what does not, in words. */
  readonly check?: (end: CrashEnd) => readonly string[];
}

/** What a schedule came to. */
export interface CrashEnd {
  readonly session: string;
  /** The whole log. */
  readonly events: readonly Envelope[];
}

export type MakeScene = (stage: Stage) => CrashScene;
