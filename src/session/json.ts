/** A value that JSON carries exactly. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Keys are arbitrary: `$`, dots and `__proto__` are ordinary. */
export type JsonObject = { readonly [key: string]: Json };
