import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { searchAttributes as WANTED } from '../contract/search-attributes.ts';

/** Of `temporal.api.enums.v1.IndexedValueType`. */
const INDEXED = { KEYWORD: 2, KEYWORD_LIST: 7 } as const;

/** How long a new attribute may take until every part of the server knows it, in milliseconds. */
const SPREADS_MS = 5_000;

/** Creates the search attributes that a namespace lacks. Others may do so at the same time. */
export async function ensureSearchAttributes(
  { operatorService }: Pick<ConnectionLike, 'operatorService'>,
  namespace: string,
): Promise<void> {
  const missing = async () => {
    const { customAttributes = {} } = await operatorService.listSearchAttributes({ namespace });
    return WANTED.filter(({ name }) => customAttributes?.[name] === undefined);
  };
  const wanted = await missing();
  if (wanted.length === 0) return;
  const searchAttributes = Object.fromEntries(
    wanted.map(({ name, type }) => [name, INDEXED[type as keyof typeof INDEXED]]),
  );
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(async (error: unknown) => {
    if ((await missing()).length > 0) throw error;
  });
  const deadline = Date.now() + SPREADS_MS;
  while ((await missing()).length > 0 && Date.now() < deadline) await sleep(50);
}
