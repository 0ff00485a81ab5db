import { type Db, type DbOptions, MongoClient, type MongoClientOptions, ReadConcern } from 'mongodb';
import { ConfigInvalidError } from '../../contract/errors.ts';
import { connectError, readError } from './errors.ts';

export interface MongoStoresOptions {
  /** `mongodb://` or `mongodb+srv://`. What it says of write concern, read concern and retries is overruled. */
  readonly uri: string;
  /** Default `apomesh`. */
  readonly database?: string;
  /** How long to look for a primary, in milliseconds. Default: what the URI says, else 4,000. */
  readonly serverSelectionTimeoutMS?: number;
}

/** A database, connected to when first needed. */
export interface Mongo {
  readonly client: MongoClient;
  readonly db: Db;
  /** Where it is, without credentials. */
  readonly address: string;
  /** @throws {StoreUnreachableError} */
  connect(): Promise<void>;
  /** Runs what only reads, or may be run again. @throws {StoreUnreachableError} */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

/** Every write is acknowledged by a majority and journaled (L5). */
export const WRITE_CONCERN = { w: 'majority', journal: true } as const;

/** Set on the database too, since a URI's `journal` and the like are mixed into what the client is given. */
const promises = {
  writeConcern: WRITE_CONCERN,
  readConcern: new ReadConcern('majority'),
  readPreference: 'primary',
} as const satisfies DbOptions;

const settings = {
  ...promises,
  // An unknown result is settled by reading back (L6).
  retryWrites: false,
  ignoreUndefined: true,
} as const satisfies MongoClientOptions;

/** What the URI may say otherwise; the times, in milliseconds, bound the wait for a server that is silent. */
const defaults = {
  appName: 'apomesh',
  // So that a server that was marked as down by an error is looked at again at once, not when it next has news.
  serverMonitoringMode: 'poll',
  serverSelectionTimeoutMS: 4_000,
  connectTimeoutMS: 5_000,
  socketTimeoutMS: 30_000,
} as const satisfies MongoClientOptions;

export function openMongo({ uri, database = 'apomesh', serverSelectionTimeoutMS }: MongoStoresOptions): Mongo {
  const unsaid = Object.fromEntries(Object.entries(defaults).filter(([name]) => !hasOption(uri, name)));
  const client = parse(uri, {
    ...settings,
    ...unsaid,
    ...(serverSelectionTimeoutMS !== undefined && { serverSelectionTimeoutMS }),
  });
  const { srvHost, hosts } = client.options;
  const address =
    srvHost === undefined ? `mongodb://${hosts.join(',')}/${database}` : `mongodb+srv://${srvHost}/${database}`;

  let connected: Promise<void> | null = null;
  const connect = (): Promise<void> => {
    connected ??= client.connect().then(
      () => {},
      (error: unknown) => {
        connected = null;
        throw connectError(error, address);
      },
    );
    return connected;
  };
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    await connect();
    try {
      return await work();
    } catch (error) {
      throw readError(error, address);
    }
  };
  return { client, db: client.db(database, promises), address, connect, attempt };
}

const CREDENTIALS = /\/\/\S*@/gu;

function parse(uri: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(uri, options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigInvalidError('mongo', `not a MongoDB URI: ${why.replaceAll(CREDENTIALS, '//***@')}`);
  }
}

const hasOption = (uri: string, name: string): boolean => new RegExp(`[?&]${name}=`, 'iu').test(uri);
