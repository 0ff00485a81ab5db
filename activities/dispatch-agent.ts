import type { DispatchInput, DispatchResult } from '../src/contract/activities.ts';
import { drive } from './drive.ts';
import type { Engine } from './engine.ts';
import { within } from './within.ts';

/** Runs an agent's loop for one slice. */
export const dispatchAgent =
  (engine: Engine) =>
  (input: DispatchInput): Promise<DispatchResult> =>
    within(
      engine,
      input,
      (pinned) => pinned.tools,
      (begun, pulse) => drive(engine, begun, input, pulse),
    );
