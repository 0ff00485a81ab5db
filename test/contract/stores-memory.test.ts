import { memoryStores } from '../../src/stores/memory/stores.ts';
import { storesSuite } from './stores.suite.ts';

storesSuite('memory', async () => memoryStores());
