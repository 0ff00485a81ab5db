import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { exportPins, importPins } from '../../../src/pins/archive.ts';
import { checkPin } from '../../../src/pins/open.ts';
import { publish } from '../../../src/pins/publish.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { agentOf, sealedOf, skillOf } from '../../support/sealing.ts';

const binary = Buffer.from([0xff, 0xfe, 0, 1, 2, 0xc3]);
const skill = skillOf('refund', { 'assets/a.bin': binary, 'b.md': '\ufeffB\r\n', empty: '' });
const sealed = sealedOf(agentOf(), { skills: [skill] });
const second = sealedOf(agentOf({ version: '1.3.0' }), { skills: [skill] });
const pinOf = ({ pin }: typeof sealed) => ({ kind: 'bundle', digest: pin.ref.digest }) as const;

async function exported(): Promise<string> {
  const stores = memoryStores();
  for (const each of [sealed, second]) await publish(stores, each);
  const lines: string[] = [];
  for await (const each of exportPins(stores, [pinOf(sealed), pinOf(second)])) lines.push(each);
  return lines.join('').trimEnd();
}

/** Changes what the first published version of an export is. */
const republished = (change: object) => (text: string) =>
  text.replace(/^\{"published":.*$/m, (line) =>
    JSON.stringify({ published: { ...JSON.parse(line).published, ...change } }),
  );

const isEmpty = async (stores: Stores): Promise<boolean> =>
  (await Promise.all([stores.sealed('pins'), stores.sealed('files'), stores.published()])).every(
    (all) => all.length === 0,
  );

describe('exportPins and importPins', () => {
  it('P4: bring everything to another store, byte for byte, each file once', async () => {
    const text = await exported();
    expect(text.match(/"file":/g)).toHaveLength(5);
    const stores = memoryStores();
    expect(await importPins(stores, `${text}\n`, 'f')).toEqual({ pins: 2, files: 5, published: 2 });
    for (const each of [sealed, second]) expect(await checkPin(stores, pinOf(each))).toEqual(each.pinned);
    expect(await stores.published()).toMatchObject([{ version: '1.2.0' }, { version: '1.3.0' }]);
    expect(await importPins(stores, text, 'f')).toEqual({ pins: 2, files: 5, published: 2 });
  });

  it.each([
    ['what the export gives', (lines: string[]) => lines],
    ['one text', (lines: string[]) => lines.join('')],
    ['text cut anywhere', (lines: string[]) => lines.join('').match(/[\s\S]{1,7}/g) ?? []],
    [
      'a stream of bytes cut anywhere',
      (lines: string[]) =>
        Readable.from(
          Buffer.from(lines.join(''))
            .toString('latin1')
            .match(/[\s\S]{1,7}/g) ?? [],
        ).map((piece) => Buffer.from(piece, 'latin1')),
    ],
  ])('P4: an import takes %s', async (_what, piecesOf) => {
    const lines = (await exported()).split(/(?<=\n)/);
    const stores = memoryStores();
    expect(await importPins(stores, piecesOf(lines), 'f')).toEqual({ pins: 2, files: 5, published: 2 });
    expect(await checkPin(stores, pinOf(sealed))).toEqual(sealed.pinned);
  });

  it('P4: put back what was altered and what is missing', async () => {
    const text = await exported();
    const stores = memoryStores();
    await importPins(stores, text, 'f');
    const [file, other] = sealed.files;
    if (file === undefined || other === undefined) throw new Error('no files');
    await stores.keep([
      { ...file, bytes: Buffer.from('x') },
      { ...sealed.pin, json: '{}' },
    ]);
    await stores.sweep('files', [other.ref.digest], '9');
    await importPins(stores, text, 'f');
    expect(await checkPin(stores, pinOf(sealed))).toEqual(sealed.pinned);
  });

  it('P4: export nothing that is damaged', async () => {
    const stores = memoryStores();
    await publish(stores, sealed);
    await stores.sweep(
      'files',
      sealed.files.slice(0, 1).map(({ ref }) => ref.digest),
      '9',
    );
    const all = async () => {
      for await (const _ of exportPins(stores, [pinOf(sealed)]));
    };
    const { digest } = sealed.pin.ref;
    await expect(all()).rejects.toMatchObject({
      code: 'PIN_CORRUPT',
      message: expect.stringMatching(
        /of triage@1\.2\.0 is without the (file|text) .*of the skill refund, which is missing/,
      ),
      fields: { agent: 'triage', version: '1.2.0', digest },
    });
  });

  it.each([
    ['something else', () => 'hello', /f:1: is no export/],
    ['nothing', () => '', /f:1: is no export/],
    ['a log', () => '{"v":1,"session":"s"}', /f:1: is no export/],
    ['one that is cut off', (text: string) => text.split('\n').slice(0, -1).join('\n'), /cut off/],
    ['one that is cut within a line', (text: string) => text.slice(0, -10), /f:\d+: is none of the lines/],
    ['one that lacks a line', (text: string) => text.split('\n').toSpliced(2, 1).join('\n'), /another number of lines/],
    [
      'one that lacks a file and does not say so',
      (text: string) => text.split('\n').toSpliced(2, 1).join('\n').replace('"files":5', '"files":4'),
      /lacks the (file|text) .*of the skill refund/,
    ],
    [
      'one that lacks a pin and does not say so',
      (text: string) =>
        text
          .split('\n')
          .filter((each) => !each.startsWith('{"pin":') || !each.includes('1.3.0'))
          .join('\n')
          .replace('"pins":2', '"pins":1'),
      /f:\d+: lacks the pin of triage@1\.3\.0/,
    ],
    [
      'one with a file that was altered',
      (text: string) => text.replace('B\\r\\n', 'C\\r\\n'),
      /f:\d+: does not match its digest/,
    ],
    [
      'one with a pin that was altered',
      (text: string) => text.replace('Triage', 'Triagf'),
      /f:\d+: does not match its digest/,
    ],
    [
      'one that publishes a pin under another version',
      republished({ version: '9.0.0' }),
      /f:9: publishes as triage@9\.0\.0 the pin of triage@1\.2\.0/,
    ],
    [
      'one that publishes a pin under another name',
      republished({ name: 'billing' }),
      /f:9: publishes as billing@1\.2\.0 the pin of triage@1\.2\.0/,
    ],
    [
      'one with a version that is none',
      republished({ version: 'latest' }),
      /f:9: has triage with "latest", which is no semantic version/,
    ],
    [
      'one with a version that has no order',
      republished({ version: '99999999999999999999.0.0' }),
      /f:9: .*no semantic version/,
    ],
    [
      'one with a name that no agent may have',
      republished({ name: 'tri@age' }),
      /f:9: has the name "tri@age", which must be 1 to 100/,
    ],
    ['one with a time that is none', republished({ at: 'today' }), /f:9: .* at "today", which is no time of ISO 8601/],
    [
      'one with a version twice',
      (text: string) => {
        const lines = text.split('\n');
        return lines
          .toSpliced(9, 0, lines[8] ?? '')
          .join('\n')
          .replace('"published":2', '"published":3');
      },
      /f:10: has triage@1\.2\.0 again, after line 9/,
    ],
    [
      'one with a version twice, with two pins',
      republished({ version: '1.3.0', digest: second.pin.ref.digest }),
      /f:10: has triage@1\.3\.0 again, after line 9/,
    ],
    ['one that goes on', (text: string) => `${text}\n${text}`, /goes on after its end/],
  ])('refuse %s, and store nothing', async (_what, change, why) => {
    const stores = memoryStores();
    await expect(importPins(stores, change(await exported()), 'f')).rejects.toThrow(why);
    expect(await isEmpty(stores)).toBe(true);
  });

  it('P4: refuse bytes that are not UTF-8, and store nothing', async () => {
    const stores = memoryStores();
    const bytes = Buffer.from(await exported());
    bytes[bytes.indexOf('Triage')] = 0xff;
    await expect(importPins(stores, [bytes], 'f')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      fields: { file: 'f' },
    });
    await expect(importPins(stores, [await exported(), binary], 'f')).rejects.toThrow('is not UTF-8');
    expect(await isEmpty(stores)).toBe(true);
  });

  it('P2: refuse a version that is published with other bytes, and store nothing', async () => {
    const stores = memoryStores();
    const other = sealedOf(agentOf({ instructions: 'Other.' }));
    await publish(stores, other);
    await expect(importPins(stores, await exported(), 'f')).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
      message: expect.stringMatching(/^f:9: triage@1\.2\.0 is published as/),
    });
    expect(await stores.sealed('pins')).toHaveLength(1);
    expect(await stores.sealed('files')).toHaveLength(0);
  });
});
