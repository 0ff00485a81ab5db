import canonicalize from 'canonicalize';
import { UnserializableValueError } from './error.ts';
import type { Json, JsonObject } from './json.ts';

/** Below this depth an ancestor cannot be told from a cycle cheaply, so cycles are looked for from here on. */
const CYCLE_CHECK_DEPTH = 64;

/** Deepest value that the engine's own (recursive) serializer is given. */
const NATIVE_DEPTH = 500;

/** ES2024, which every runtime in use has. */
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();

/**
 * Checks that JSON carries a value exactly (J5). `-0` passes, as 0.
 *
 * @throws {UnserializableValueError} naming the path, such as `$.a["b.c"][0]`, and what was found there.
 */
export function assertJson(value: unknown): asserts value is Json {
  new Walk().run(value);
}

/**
 * The canonical JSON text (RFC 8785) of a value: equal values give equal bytes. Linear, at any depth of nesting.
 *
 * @throws {UnserializableValueError} where JSON cannot carry the value exactly (J5).
 */
export function canonicalJson(value: unknown): string {
  const walk = new Walk();
  walk.run(value);
  // With every object's keys in order, the engine's serializer gives the same text, three times as fast.
  const isNative = walk.deepest < NATIVE_DEPTH;
  if (isNative && walk.sorted) return JSON.stringify(value);
  if (isNative && walk.sortable) return JSON.stringify(sortedCopy(value as Json));
  return canonicalize(value) as string;
}

function sortedCopy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortedCopy);
  const object = value as JsonObject;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(object).sort()) copy[key] = sortedCopy(object[key] as Json);
  return copy;
}

/** A key that does not stay where it is put: engines have indexes first, whatever the order, and `__proto__` is no key at all. */
const isUnruly = (key: string): boolean => {
  const first = key.charCodeAt(0);
  return (first >= 48 && first <= 57) || key === '__proto__';
};

/** One pass over a value, on a stack of its own so that deep nesting cannot overflow the call stack. */
class Walk {
  /** Whether the keys of every object came in the order of their UTF-16 code units. */
  sorted = true;
  /** Whether a copy with the keys in that order can be made. */
  sortable = true;
  deepest = 0;
  /** The containers being walked, outermost first, with their keys (null: an array) and the next child of each. */
  readonly #containers: object[] = [];
  readonly #keys: (readonly string[] | null)[] = [];
  readonly #next: number[] = [];
  /** The same containers, once nesting is deep enough that there may be a cycle. */
  #ancestors: Set<object> | null = null;

  run(root: unknown): void {
    this.#visit(root);
    while (this.#containers.length > 0) {
      const top = this.#containers.length - 1;
      const container = this.#containers[top] as Record<string | number, unknown>;
      const keys = this.#keys[top] as readonly string[] | null;
      const index = this.#next[top] as number;
      const length = keys === null ? (container as unknown as unknown[]).length : keys.length;
      if (index === length) {
        this.#leave();
        continue;
      }
      this.#next[top] = index + 1;
      this.#visit(container[keys === null ? index : (keys[index] as string)]);
    }
  }

  #visit(value: unknown): void {
    switch (typeof value) {
      case 'string':
        if (!isWellFormed(value)) this.#refuse('a string with a lone surrogate');
        return;
      case 'number':
        if (!Number.isFinite(value)) this.#refuse(String(value));
        return;
      case 'boolean':
        return;
      case 'object':
        if (value !== null) this.#enter(value);
        return;
      case 'undefined':
        this.#refuse('undefined');
        break;
      default:
        this.#refuse(`a ${typeof value}`);
    }
  }

  #enter(container: object): void {
    const keys = Array.isArray(container) ? this.#checkArray(container) : this.#keysOf(container);
    if (this.#ancestors?.has(container)) this.#refuse('a cycle');
    this.#ancestors?.add(container);
    this.#containers.push(container);
    this.#keys.push(keys);
    this.#next.push(0);
    const depth = this.#containers.length;
    if (depth > this.deepest) this.deepest = depth;
    if (this.#ancestors === null && depth >= CYCLE_CHECK_DEPTH) this.#startCycleCheck();
  }

  #leave(): void {
    const container = this.#containers.pop() as object;
    this.#keys.pop();
    this.#next.pop();
    this.#ancestors?.delete(container);
  }

  #startCycleCheck(): void {
    const ancestors = new Set<object>();
    for (const [depth, container] of this.#containers.entries()) {
      if (ancestors.has(container)) this.#refuse('a cycle', depth);
      ancestors.add(container);
    }
    this.#ancestors = ancestors;
  }

  #checkArray(array: readonly unknown[]): null {
    // The prototype of plain arrays, of whichever realm, is an array itself; that of a subclass is not.
    if (!Array.isArray(Object.getPrototypeOf(array))) this.#refuse(instanceName(array));
    if (Object.keys(array).length !== array.length) {
      const hole = array.findIndex((_, index) => !Object.hasOwn(array, index));
      this.#refuse(hole < 0 ? 'an array with properties of its own' : `an array with a hole at ${hole}`);
    }
    return null;
  }

  #keysOf(object: object): readonly string[] {
    if (!isPlain(object)) this.#refuse(instanceName(object));
    const keys = Reflect.ownKeys(object);
    let last = '';
    for (const key of keys) {
      if (typeof key === 'symbol') this.#refuse('an object with a symbol for a key');
      if (!isWellFormed(key)) this.#refuse(`an object with a lone surrogate in the key ${JSON.stringify(key)}`);
      const property = Object.getOwnPropertyDescriptor(object, key);
      if (property === undefined || !('value' in property)) this.#refuse('a getter or setter', undefined, key);
      if (!property.enumerable) this.#refuse('a property that is not enumerable', undefined, key);
      if (key < last) this.sorted = false;
      if (isUnruly(key)) this.sortable = false;
      last = key;
    }
    return keys as string[];
  }

  #refuse(found: string, depth = this.#containers.length, key?: string): never {
    let path = '$';
    for (let level = 0; level < depth; level++) {
      const index = (this.#next[level] as number) - 1;
      const keys = this.#keys[level] as readonly string[] | null;
      path += keys === null ? `[${index}]` : segment(keys[index] as string);
    }
    throw new UnserializableValueError(key === undefined ? path : path + segment(key), found);
  }
}

const segment = (key: string): string =>
  /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

/** Whether an object is a literal, of whichever realm (a workflow and its worker have one each), or has no prototype. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

function instanceName(object: object): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  const maker: unknown =
    prototype === null ? null : Object.getOwnPropertyDescriptor(prototype as object, 'constructor')?.value;
  return typeof maker === 'function' && maker.name !== ''
    ? `an instance of ${maker.name}`
    : 'an object with a prototype of its own';
}
