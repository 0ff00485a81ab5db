/**
 * The first `length` keys of an append-only register, as a set. Adding gives a new value and shares the register, unless
 * another key was added to this very value before (a branch), which copies it: a chain of additions is linear.
 */
export class Seen {
  static readonly none = new Seen(new Map(), 0);

  readonly length: number;
  /** Each key with its place. */
  readonly #register: Map<string, number>;

  private constructor(register: Map<string, number>, length: number) {
    this.#register = register;
    this.length = length;
  }

  static of(keys: readonly string[]): Seen {
    return keys.length === 0 ? Seen.none : new Seen(new Map(keys.map((key, place) => [key, place])), keys.length);
  }

  has(key: string): boolean {
    const place = this.#register.get(key);
    return place !== undefined && place < this.length;
  }

  /** With a key that it does not have yet. */
  with(key: string): Seen {
    const branches = this.length === 0 || this.#register.size !== this.length;
    const register = branches ? new Map([...this.#register].slice(0, this.length)) : this.#register;
    register.set(key, this.length);
    return new Seen(register, this.length + 1);
  }
}
