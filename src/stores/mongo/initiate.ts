import { type Db, MongoClient, MongoServerError } from 'mongodb';

const NOT_YET_INITIALIZED = 94;

/**
 * Makes one node the only member of a replica set and checks that it takes writes. A node that had another address when
 * it was last up is given the new one. Call again until it no longer throws: an election takes a moment.
 *
 * @param uri of the node alone (`directConnection=true`).
 * @param address `host:port` that the member is to be known under.
 */
export async function initiate(uri: string, replicaSet: string, address: string): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1_000 });
  try {
    const admin = client.db('admin');
    const hello = await admin.command({ hello: 1 });
    if (hello['isWritablePrimary'] === true && hello['me'] === address) return;
    await configure(admin, { _id: replicaSet, members: [{ _id: 0, host: address }] });
    throw new Error('waiting for the election');
  } finally {
    await client.close();
  }
}

interface Config {
  readonly _id: string;
  readonly members: readonly { readonly _id: number; readonly host: string }[];
}

async function configure(admin: Db, wanted: Config): Promise<void> {
  const config = await admin.command({ replSetGetConfig: 1 }).then(
    (answer): { version: number; members: Config['members'] } => answer['config'],
    (error: unknown) => {
      if (error instanceof MongoServerError && error.code === NOT_YET_INITIALIZED) return null;
      throw error;
    },
  );
  if (config === null) {
    await admin.command({ replSetInitiate: wanted });
  } else if (config.members[0]?.host !== wanted.members[0]?.host) {
    await admin.command({ replSetReconfig: { ...config, ...wanted, version: config.version + 1 }, force: true });
  }
}
