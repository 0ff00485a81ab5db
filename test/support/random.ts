import { hash } from 'node:crypto';

/** Random choices that a seed decides. */
export class Random {
  readonly #seed: string;
  #drawn = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** An integer from 0 on, below `end`. */
  below(end: number): number {
    const draw = hash('sha256', `${this.#seed}/${this.#drawn++}`).slice(0, 12);
    return Number.parseInt(draw, 16) % end;
  }

  /** @throws where there is nothing to choose from. */
  one<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('there is nothing to choose from');
    return items[this.below(items.length)] as T;
  }
}
