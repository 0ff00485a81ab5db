/** How many documents are remembered: some hundred kilobytes. */
const LIMIT = 4_096;

/** Which documents this process lately saw acknowledged, so that they need not be sent again. They never change. */
export class Recent {
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    this.#keys.add(key);
    if (this.#keys.size <= LIMIT) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }
}
