import { UnserializableValueError } from '../contract/errors.ts';
import type { Row } from '../ports/store.ts';

/** ES2024, which every runtime in use has. */
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();

/**
 * Checks that every text of a row but its body comes back as it is written: a store keeps UTF-8, which has no lone
 * surrogates.
 *
 * @throws {UnserializableValueError}
 */
export function checkColumns(row: Row): void {
  const columns = row.into === 'events' ? row.envelope : row;
  for (const [name, value] of Object.entries(columns)) {
    if (name !== 'json' && typeof value === 'string' && !isWellFormed(value)) {
      throw new UnserializableValueError(`$.${name}`, 'a string with a lone surrogate');
    }
  }
}
