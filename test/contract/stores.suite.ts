import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Stores } from '../../src/ports/store.ts';
import { auditCases } from './stores.audit.ts';
import { bodyCases } from './stores.bodies.ts';
import { listCases } from './stores.lists.ts';
import { logCases } from './stores.log.ts';
import { recoveryCases } from './stores.recovery.ts';
import { sealedCases } from './stores.sealed.ts';

/** What any implementation of the stores promises. */
export function storesSuite(name: string, make: () => Promise<Stores>): void {
  describe(`stores: ${name}`, () => {
    let stores: Stores;
    beforeAll(async () => {
      stores = await make();
      await stores.prepare();
    });
    afterAll(() => stores.close());

    logCases(() => stores);
    bodyCases(() => stores);
    listCases(() => stores);
    recoveryCases(() => stores);
    auditCases(() => stores);
    sealedCases(() => stores);

    it('says where it is', () => {
      expect(stores.address).not.toBe('');
    });
  });
}
