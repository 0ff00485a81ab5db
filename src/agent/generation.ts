import type { Usage } from '../session/envelopes.ts';
import type { Json, JsonObject } from '../session/json.ts';
import type { CallRequest } from './loop.ts';

/** A call as a model wrote it. */
export interface AskedCall {
  /** The model's own id for it. */
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
  /** What is wrong with the way it was written (not JSON, not an object), or null. */
  readonly problem: string | null;
}

/** What a model answered: JSON, so that it can be kept. */
export interface Generation {
  /** The parts of the answer in their order, as the AI SDK's prompt takes them back (text, reasoning, tool calls …). */
  readonly content: readonly JsonObject[];
  readonly finish: string;
  readonly usage: Usage;
  readonly calls: readonly AskedCall[];
  /** All text of the answer. */
  readonly text: string;
}

/** A call with what the platform made of it. */
export interface StoredCall extends CallRequest {
  readonly id: string;
  readonly input: Json;
}

/** The body that GenerationCompleted points at. */
export interface StoredGeneration {
  readonly v: 1;
  readonly node: number;
  readonly content: readonly JsonObject[];
  readonly finish: string;
  readonly usage: Usage;
  readonly calls: readonly StoredCall[];
  /** Why the final answer does not fit the output's shape (told to the model), or null. */
  readonly misfit: string | null;
  /** The final answer, where this is one. */
  readonly answer: Json;
}
