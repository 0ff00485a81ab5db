let databases = 0;

/** The MongoDB that the tests run against. */
export function mongoUri(): string {
  const uri = process.env['MONGODB_URI'];
  if (uri === undefined) throw new Error('MONGODB_URI is not set: run the tests with jest.config.js, which starts one');
  return uri;
}

/** The same, with one more option. */
export const uriWith = (option: string, uri = mongoUri()): string =>
  `${uri}${uri.includes('?') ? '&' : uri.split('//')[1]?.includes('/') ? '?' : '/?'}${option}`;

/** A database that no other test uses. */
export const newDatabase = (): string => `t-${process.pid}-${Date.now()}-${databases++}`;
