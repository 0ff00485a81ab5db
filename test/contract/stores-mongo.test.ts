import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { mongoUri, newDatabase } from './mongo.ts';
import { storesSuite } from './stores.suite.ts';

storesSuite('mongo', async () => mongoStores({ uri: mongoUri(), database: newDatabase() }));
