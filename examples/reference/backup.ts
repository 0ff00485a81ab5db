import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { ApomeshClient } from 'apomesh';

/** Writes all pins with their files and published versions to a file; it is a backup once this is done. */
export const backUp = ({ pins }: ApomeshClient, file: string) => pipeline(pins.export(), createWriteStream(file));

/** Puts back what a file has. */
export const restore = ({ pins }: ApomeshClient, file: string) => pins.import(createReadStream(file), file);
