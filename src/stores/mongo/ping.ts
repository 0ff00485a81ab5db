import { MongoClient } from 'mongodb';
import { StoreUnreachableError } from '../../contract/errors.ts';

/**
 * Whether a MongoDB that takes writes answers.
 *
 * @returns where it is, without credentials.
 * @throws {StoreUnreachableError} naming the address, after `timeoutMs` at the latest.
 */
export async function ping(uri: string, timeoutMs = 5_000): Promise<string> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs });
  const address = client.options.srvHost ?? client.options.hosts.join(',');
  try {
    const hello = await client.db('admin').command({ hello: 1 });
    if (hello['isWritablePrimary'] !== true) throw new Error('the node there takes no writes (it is no primary)');
    return address;
  } catch (error) {
    throw new StoreUnreachableError(address, { cause: error });
  } finally {
    await client.close();
  }
}
