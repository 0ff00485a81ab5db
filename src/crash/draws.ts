import { draw, sessionSeed, stepSeed } from '../determinism/randomness.ts';

const HEX = 8;
const PER_DRAW = 64 / HEX;

/** A stream of choices that a seed decides: the same seed makes the same ones. */
export class Draws {
  readonly #step: string;
  #drawn = '';
  #used = 0;

  constructor(seed: string) {
    this.#step = stepSeed(sessionSeed(seed), 0);
  }

  /** From 0 up to 1. */
  readonly number = (): number => {
    const at = this.#used % PER_DRAW;
    if (at === 0) this.#drawn = draw(this.#step, this.#used / PER_DRAW);
    this.#used += 1;
    return Number.parseInt(this.#drawn.slice(at * HEX, (at + 1) * HEX), 16) / 2 ** 32;
  };

  /** True as often as the odds say. */
  chance(odds: number): boolean {
    return this.number() < odds;
  }

  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.number() * (most - least + 1));
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T;
  }
}
