/** What else is said of something that is not there. */
export interface NotThere {
  /** Where it was looked for, such as `in the config`. */
  readonly where?: string;
  /** A sentence. */
  readonly advice?: string;
}

/** @param what such as `agent triage`. @param available what there is instead. */
export function notThere(what: string, available: readonly string[], { where, advice }: NotThere = {}): string {
  const looked = where === undefined ? what : `${what} ${where}`;
  const there = `there is no ${looked}; there is ${available.join(', ') || 'none'}.`;
  return advice === undefined ? there : `${there} ${advice}`;
}
