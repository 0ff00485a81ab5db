import { ANSWER, type Answer, CANCEL } from '../contract/session.ts';
import { fold } from '../session/fold.ts';
import type { OpenPauseView } from '../session/view.ts';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Server } from './server.ts';
import type { Turns } from './turns.ts';
import type { Witness } from './witness.ts';

/** An answer that somebody was told is taken. */
export interface Accepted {
  readonly pause: string;
  readonly decision: string;
}

export interface PeopleOptions {
  readonly turns: Turns;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly witness: Witness;
  readonly server: Server;
  readonly session: string;
  readonly answer: (pause: OpenPauseView, draws: Draws) => Omit<Answer, 'pause'>;
}

const SHORTEST_MS = 50;
const LONGEST_MS = 8_000;

/** Those who answer: late, twice, wrongly, two at once; and who cancel. */
export class People {
  readonly accepted: Accepted[] = [];
  cancels = 0;
  readonly #options: PeopleOptions;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#look();
  }

  cancel(): void {
    const { draws, server, session } = this.#options;
    this.cancels += 1;
    const how = draws.between(0, 2);
    if (how === 0) server.cancel(session);
    else if (how === 1) server.signal(session, CANCEL, { reason: 'enough' });
    else void server.update(session, CANCEL, { reason: 'enough' });
  }

  #look(): void {
    const { turns, draws, session, witness } = this.#options;
    const perform = async () => {
      if (witness.isTerminal(session)) return;
      const { pauses } = fold(await witness.stores.read(session));
      for (const pause of pauses) this.#consider(pause);
      this.#look();
    };
    const notBefore = turns.clock.now + draws.between(SHORTEST_MS, LONGEST_MS);
    turns.add({ kind: 'elsewhere', label: 'a person looks', notBefore, perform });
  }

  #consider(pause: OpenPauseView): void {
    const { draws, faults } = this.#options;
    if (!faults.areOver && draws.chance(0.4)) return;
    if (draws.chance(0.1)) this.#give(this.#wrong(pause));
    for (let times = draws.chance(0.2) ? 2 : 1; times > 0; times -= 1)
      this.#give({ pause: pause.pause, ...this.#options.answer(pause, draws) });
  }

  #wrong({ pause, accepts }: OpenPauseView): Answer {
    const [decision = 'approve'] = accepts;
    return this.#options.draws.pick([
      { pause, decision: 'perhaps' },
      { pause: `${pause}-2`, decision },
      { pause: '', decision },
    ]);
  }

  #give(answer: Answer): void {
    const { draws, server, session } = this.#options;
    if (draws.chance(0.3)) server.signal(session, ANSWER, answer);
    else this.#insist(answer);
  }

  #insist(answer: Answer): void {
    const { server, session, turns } = this.#options;
    void server.update(session, ANSWER, answer).then((result) => {
      turns.say(`${answer.decision} to ${answer.pause}: ${result.of}`);
      if (result.of === 'completed') this.accepted.push({ pause: answer.pause, decision: answer.decision });
      else if (result.of === 'gone' && server.outcome(session) === null) this.#again(answer);
    });
  }

  /** Who is not told what became of an answer gives it again. */
  #again(answer: Answer): void {
    const { draws, turns } = this.#options;
    const notBefore = turns.clock.now + draws.between(SHORTEST_MS, LONGEST_MS);
    turns.add({ kind: 'elsewhere', label: 'a person insists', notBefore, perform: () => this.#insist(answer) });
  }
}
