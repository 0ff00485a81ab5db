/** A list of items with unique ids, being changed: the list it starts from stays as it is. */
export class ChangedList<T> {
  readonly #base: readonly T[];
  readonly #idOf: (item: T) => string;
  readonly #added = new Map<string, T>();
  readonly #removed = new Set<string>();

  constructor(base: readonly T[], idOf: (item: T) => string) {
    this.#base = base;
    this.#idOf = idOf;
  }

  has(id: string): boolean {
    return this.#added.has(id) || (!this.#removed.has(id) && this.#base.some((item) => this.#idOf(item) === id));
  }

  /** An item whose id is not in the list yet, to its end. */
  add(item: T): void {
    this.#added.set(this.#idOf(item), item);
  }

  /** @returns whether it was there. */
  delete(id: string): boolean {
    if (this.#added.delete(id)) return true;
    const there = this.has(id);
    if (there) this.#removed.add(id);
    return there;
  }

  finish(): T[] {
    const kept =
      this.#removed.size === 0 ? this.#base : this.#base.filter((item) => !this.#removed.has(this.#idOf(item)));
    return kept.concat([...this.#added.values()]);
  }
}
