import { ApomeshError } from '../contract/errors.ts';
import { resumeByOperator } from '../recovery/resume.ts';
import { runActivity } from './activity-context.ts';
import type { Crew } from './crew.ts';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import { gatedStores } from './gated-stores.ts';
import { gatedWorkflows } from './gated-workflows.ts';
import { inProcess, Process } from './process.ts';
import type { Server } from './server.ts';
import type { Turns } from './turns.ts';
import type { Witness } from './witness.ts';

export interface RescueOptions {
  readonly turns: Turns;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly crew: Crew;
  readonly server: Server;
  readonly witness: Witness;
  readonly session: string;
  readonly heartbeatTimeoutMs: number;
}

const LONGEST_MS = 15_000;

/** Those who see to sessions that no workflow drives: boot scans that race, and an operator. */
export class Rescue {
  /** The operator leaves what is listed as it is. */
  readonly leaves: boolean;
  readonly #options: RescueOptions;
  #asked = 0;

  constructor(options: RescueOptions) {
    const { draws } = options;
    this.#options = options;
    this.leaves = draws.chance(0.2);
    // Any worker that starts asks for one, whatever there is to find.
    if (draws.chance(0.2)) this.#after(() => this.#scan());
  }

  /** Whether nobody will bring the session to its end. */
  async isLeft(): Promise<boolean> {
    const { witness, session, server } = this.#options;
    return this.leaves && server.isAdrift(session) && (await witness.stores.listed(session)) !== null;
  }

  /** From a loss on: scans and an operator, until the session goes on or is over. */
  begin(): void {
    this.#after(() => this.#scan());
    this.#watch();
  }

  #watch(): void {
    this.#after(async () => {
      const { draws, server, session, witness } = this.#options;
      if (witness.isTerminal(session)) return;
      if (server.isAdrift(session)) await this.#see();
      // One who does not look first.
      else if (draws.chance(0.05)) this.#operate();
      this.#watch();
    });
  }

  async #see(): Promise<void> {
    const { draws, faults, session, witness } = this.#options;
    const isListed = (await witness.stores.listed(session)) !== null;
    if (isListed && this.leaves) return;
    if (!isListed || draws.chance(0.3)) this.#scan();
    if (isListed && (faults.areOver || draws.chance(0.7)))
      for (let times = draws.chance(0.3) ? 2 : 1; times > 0; times -= 1) this.#operate();
  }

  /** On a worker, as its activity. */
  #scan(): void {
    const { crew, draws, turns } = this.#options;
    const [process] = crew.ofMain().length > 0 ? [draws.pick(crew.ofMain())] : [];
    if (!process) return;
    this.#asked += 1;
    const activityId = `scan-${this.#asked}`;
    turns.say(`${process.id} scans`);
    const options = { process, workflowId: 'apomesh-recovery', runId: activityId, activityId, heartbeatMs: LONGEST_MS };
    const { result } = runActivity({ turns, ...options, onBeat: () => undefined }, () =>
      crew.run(process, 'scanSessions', { after: null }),
    );
    this.#expect(result, activityId);
  }

  /** On a machine of the operator's own. */
  #operate(): void {
    const { turns, draws, server, witness, session, heartbeatTimeoutMs } = this.#options;
    this.#asked += 1;
    const process = new Process(`operator-${this.#asked}`, 'none');
    const ground = {
      stores: gatedStores(witness.stores, process, turns, draws),
      workflows: gatedWorkflows(server, process, turns),
    };
    const effects = draws.chance(0.8) ? 'reuse' : 'rerun';
    const options = { effects, heartbeatTimeoutMs, takeover: draws.chance(0.9) } as const;
    this.#expect(
      inProcess(process, () => resumeByOperator(ground, session, options)),
      process.id,
    );
  }

  /** Whoever is refused says so; anything else that is thrown is a fault. */
  #expect(result: Promise<unknown>, who: string): void {
    const { turns, witness } = this.#options;
    result.then(
      (value) => turns.say(`${who}: ${JSON.stringify(value)}`),
      (error: unknown) => {
        turns.say(`${who}: ${String(error)}`);
        if (!(error instanceof ApomeshError) && !isOurs(error)) witness.broken.push(`${who}: ${String(error)}`);
      },
    );
  }

  #after(then: () => unknown): void {
    const { turns, draws } = this.#options;
    const notBefore = turns.clock.now + draws.between(1, LONGEST_MS);
    turns.add({ kind: 'elsewhere', label: 'the rescue looks', notBefore, perform: then });
  }
}

/** An error of ours as an activity throws it, or a store's that is tried again later. */
const isOurs = (error: unknown): boolean =>
  error instanceof Error && ['ApplicationFailure', 'StoreUnknownError'].includes(error.name);
