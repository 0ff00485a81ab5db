import { draw, randomOf, sessionSeed, stepSeed, uuidOf } from '../../src/determinism/randomness.ts';
import { canonicalJson } from '../../src/session/canonical-json.ts';
import { bodyOf } from '../../src/session/digest.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import { evolve, fold } from '../../src/session/fold.ts';
import type { Json } from '../../src/session/json.ts';
import { effectKey } from '../../src/session/keys.ts';
import { parseLog } from '../../src/session/ndjson.ts';
import { empty } from '../../src/session/view.ts';

/** Every function of the kernel on given input, as one JSON text: to be compared byte for byte across runtimes. */
export function kernelValues(log: string, values: readonly Json[]): string {
  const envelopes: Envelope[] = parseLog(log);
  const seed = sessionSeed('séance-€-😀');
  const step = stepSeed(seed, 9_007_199_254_740_993n);
  return JSON.stringify({
    view: fold(envelopes),
    evolved: envelopes.reduce(evolve, empty),
    bodies: values.map(bodyOf),
    keys: values.map((args, n) => effectKey({ agent: 's-1/root-1', tool: 'write_file', args, n })),
    seed,
    step,
    draws: [0, 1, 2].map((i) => [draw(step, i), randomOf(draw(step, i)), uuidOf(draw(step, i))]),
    refused: refusal(() => canonicalJson({ 'b.c': [new Date(0)] })),
    unreadable: refusal(() => fold([...envelopes, ...envelopes])),
  });
}

function refusal(act: () => unknown): string {
  try {
    return `gave ${String(act())}`;
  } catch (error) {
    return String(error);
  }
}
