/** What is compared: plain Temporal activities without a journal, and apomesh by way of dispatch and store. */
export const sides = {
  plain: { name: 'plain Temporal', dispatch: null, store: null },
  'loop-mongo': { name: 'loop, MongoDB', dispatch: 'loop', store: 'mongo' },
  'loop-memory': { name: 'loop, memory', dispatch: 'loop', store: 'memory' },
  'call-mongo': { name: 'call, MongoDB', dispatch: 'call', store: 'mongo' },
  'call-memory': { name: 'call, memory', dispatch: 'call', store: 'memory' },
} as const;

export type Side = keyof typeof sides;

export const sideNames = Object.keys(sides) as Side[];
