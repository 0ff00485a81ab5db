import { expect, it } from '@jest/globals';
import { MongoNetworkError } from 'mongodb';
import { StoreUnknownError, StoreUnreachableError } from '../../../src/contract/errors.ts';
import { readError, writeError } from '../../../src/stores/mongo/errors.ts';

const ofNode = (code: string) => Object.assign(new Error('This socket has been ended by the other party'), { code });

const broken = [
  new MongoNetworkError('connection 7 to 127.0.0.1:27017 closed'),
  ...['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'].map(ofNode),
];

it.each(broken)('L6: what a write left behind is not known where its connection broke (%s)', (error) => {
  expect(writeError(error, 'here', true)).toBeInstanceOf(StoreUnknownError);
  expect(readError(error, 'here')).toBeInstanceOf(StoreUnreachableError);
});

it('a mistake of ours stays what it is', () => {
  for (const error of [new TypeError('no'), ofNode('ERR_INVALID_ARG_TYPE')]) {
    expect(writeError(error, 'here', true)).toBe(error);
    expect(readError(error, 'here')).toBe(error);
  }
});
