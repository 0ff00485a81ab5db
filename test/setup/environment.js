import { TestEnvironment } from 'jest-environment-node';

const errors = [
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
  'EvalError',
  'URIError',
  'AggregateError',
];
const isInstance = Function.prototype[Symbol.hasInstance];

/**
 * Jest runs test files in a realm of their own, so that an error thrown by Node's own modules (`node:fs`, `fetch`, an
 * abort) is no `instanceof Error` there, as it is when the code runs for real. This makes it one.
 */
export default class Environment extends TestEnvironment {
  async setup() {
    await super.setup();
    for (const name of errors) {
      const inside = this.global[name];
      const outside = globalThis[name];
      Object.defineProperty(inside, Symbol.hasInstance, {
        configurable: true,
        value(thing) {
          return isInstance.call(this, thing) || (this === inside && thing instanceof outside);
        },
      });
    }
  }
}
