import type { Crew } from './crew.ts';
import type { Draws } from './draws.ts';
import type { Faults, Incident } from './faults.ts';
import type { People } from './people.ts';
import type { Process } from './process.ts';
import type { Rescue } from './rescue.ts';
import type { Server } from './server.ts';
import type { Tasks } from './tasks.ts';
import type { Turns } from './turns.ts';

export interface IncidentsOptions {
  readonly turns: Turns;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly crew: Crew;
  readonly tasks: Tasks;
  readonly server: Server;
  readonly people: People;
  readonly rescue: Rescue;
  readonly session: string;
}

const LONGEST_MS = 30_000;
/** A process that stands still in the middle of an effect for longer than time-out and grace is outside of the promise. */
const LONGEST_IN_EFFECT_MS = 500;
const PATIENCE_MS = 10_000;

/** What befalls processes and workflows between steps: frozen or cut off and back later, dismissed, killed; reset. */
export class Incidents {
  readonly #options: IncidentsOptions;

  constructor(options: IncidentsOptions) {
    this.#options = options;
  }

  async maybe(): Promise<void> {
    const incident = this.#options.faults.incident();
    if (incident !== null) await this.#befall(incident);
  }

  async #befall(incident: Incident): Promise<void> {
    const { draws, crew, server, session, people, tasks, turns } = this.#options;
    const running = crew.processes.filter(({ state }) => state === 'running');
    switch (incident) {
      case 'reset':
        return server.reset(session);
      case 'continue':
        return server.suggestContinueAsNew(session);
      case 'cancel':
        turns.say('a person cancels');
        return people.cancel();
      case 'lose':
      case 'close':
      case 'stick':
        return this.#lose(incident);
      default: {
        if (running.length === 0) return;
        const process = draws.pick(running);
        turns.say(`${process.id}: ${incident}`);
        if (incident === 'kill') process.die();
        else if (incident === 'leave') crew.dismiss(process, () => tasks.isBusy(process), PATIENCE_MS);
        else if (incident === 'freeze') this.#freeze(process);
        else this.#part(process);
      }
    }
  }

  #lose(how: 'lose' | 'close' | 'stick'): void {
    const { server, session, turns, rescue } = this.#options;
    turns.say(`Temporal: ${how}`);
    if (how === 'lose') server.lose();
    else if (how === 'close') server.close(session);
    else server.stick(session);
    rescue.begin();
  }

  #freeze(process: Process): void {
    process.state = 'frozen';
    this.#later(process.effects > 0 ? LONGEST_IN_EFFECT_MS : LONGEST_MS, () => {
      if (process.state === 'frozen') process.state = 'running';
      this.#options.turns.say(`${process.id} moves again`);
    });
  }

  #part(process: Process): void {
    process.isConnected = false;
    this.#later(LONGEST_MS, () => {
      process.isConnected = true;
      this.#options.turns.say(`${process.id} is heard again`);
    });
  }

  #later(longestMs: number, then: () => void): void {
    const { turns, draws } = this.#options;
    turns.later(draws.between(1, longestMs), then);
  }
}
