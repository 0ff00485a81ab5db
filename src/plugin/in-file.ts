import { ConfigInvalidError } from '../contract/errors.ts';

/** Gives what work on a config gives; an error of the config that names no file is thrown naming this one. */
export async function inFile<T>(file: string | null, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ConfigInvalidError) || error.fields['file'] !== null) throw error;
    throw new ConfigInvalidError(String(error.fields['field']), String(error.fields['why']), file);
  }
}
