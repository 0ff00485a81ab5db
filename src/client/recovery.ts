import { setTimeout as sleep } from 'node:timers/promises';
import { SessionLiveError } from '../contract/errors.ts';
import type { EffectMode, Finding } from '../contract/recovery.ts';
import type { ResolvedConfig } from '../plugin/config.ts';
import { recoveryByHand } from '../plugin/recovery.ts';
import type { RecoverableEntry, SessionEntry, Stores } from '../ports/store.ts';
import type { Temporal } from './temporal.ts';

export interface ScanOptions {
  /** Says what a scan would do, and does nothing. Default false. */
  readonly dryRun?: boolean;
  /** First derives from the logs what sessions are listed by and the completed records (F6). Default false. */
  readonly rebuild?: boolean;
  /** Called with each session once it is seen to. */
  readonly onFound?: (finding: Finding) => void | Promise<void>;
}

export interface ResumeOptions {
  /** `reuse`: what replaced agents did is served (R4). `rerun`: it is done again. Default `reuse`. */
  readonly effects?: EffectMode;
  /** Ends a workflow whose tasks keep failing, and goes on without it (R4). Default false. */
  readonly takeover?: boolean;
}

/** A session that was taken up. */
export interface Resumed {
  readonly session: string;
  /** 1 for the first resume. */
  readonly resume: number;
  /** Whether its first act is on the log; otherwise it waits for a worker. */
  readonly logged: boolean;
}

/** How long a worker has to take a resume up before it is left to do so later, in milliseconds. */
const WORKER_PATIENCE_MS = 8_000;
const PAUSE_MS = 100;

/** Sessions asked for at once. */
const PAGE = 100;

/** Finding and taking up sessions that were lost. */
export class Recovery {
  readonly #temporal: Temporal;
  readonly #stores: Stores;
  readonly #config: ResolvedConfig | null;

  constructor(temporal: Temporal, stores: Stores, config: ResolvedConfig | null) {
    this.#temporal = temporal;
    this.#stores = stores;
    this.#config = config;
  }

  /** What the latest scan left for an operator, by session (R2). */
  list(): Promise<RecoverableEntry[]> {
    return this.#stores.allListed();
  }

  /**
   * Sees to every session as a boot scan does: resumes what is lost and free of side effects, lists what needs a person (R2). Gives
   * each session with its class and why; those that are over come last.
   */
  async scan({ dryRun = false, rebuild = false, onFound }: ScanOptions = {}): Promise<Finding[]> {
    await this.#stores.prepare();
    if (rebuild) await this.#stores.rebuildIndexes();
    const findings: Finding[] = [];
    const take = (finding: Finding) => {
      findings.push(finding);
      return onFound?.(finding);
    };
    await this.#byHand().scan({ dryRun, onFound: take });
    const seen = new Set(findings.map(({ session }) => session));
    for await (const { session, completed } of allSessions(this.#stores)) {
      if (completed !== null && !seen.has(session))
        await take({ session, class: 'completed', why: `it is over (${completed.phase})` });
    }
    return findings;
  }

  /**
   * Resumes a session on purpose (R4), and returns once that is on the log, or it waits for a worker.
   *
   * @throws {SessionLiveError} where it is live, or another was faster (R5); {@link SessionStuckError} without `takeover`.
   * @throws {SessionTerminalError} {@link SessionNotFoundError} {@link LogUnreadableError} {@link PinCorruptError}
   */
  async resume(session: string, { effects = 'reuse', takeover = false }: ResumeOptions = {}): Promise<Resumed> {
    const { resume, runId, lastSeq } = await this.#byHand().resume(session, { effects, takeover });
    const deadline = Date.now() + WORKER_PATIENCE_MS;
    while (Date.now() < deadline) {
      const since = await this.#stores.read(session, lastSeq + 1);
      const logged = since.find((event) => event.type === 'SessionResumed' && event.data.resume === resume);
      if (logged?.type === 'SessionResumed') {
        if (logged.data.run !== runId) throw SessionLiveError.resumed(session);
        return { session, resume, logged: true };
      }
      await sleep(PAUSE_MS);
    }
    return { session, resume, logged: false };
  }

  #byHand() {
    return recoveryByHand(this.#stores, this.#temporal, this.#config);
  }
}

async function* allSessions(stores: Pick<Stores, 'sessions'>): AsyncGenerator<SessionEntry, void, undefined> {
  let before: SessionEntry | undefined;
  do {
    const page: SessionEntry[] = await stores.sessions({ limit: PAGE, ...(before && { before }) });
    yield* page;
    before = page.length < PAGE ? undefined : page.at(-1);
  } while (before !== undefined);
}
