import { sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Crash tests first: they take longest, and whoever begins one last keeps everybody waiting. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => path.includes(`${sep}crash${sep}`);
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
