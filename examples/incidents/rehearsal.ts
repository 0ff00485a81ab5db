import { scriptedModel } from 'apomesh';
import { answerSoFar } from './rehearsal/decide.ts';

/**
 * Stands in for a language model, so that the example runs anywhere: it does what the agent's instructions say, by rules,
 * from what the tools really returned. Nothing in it knows the reports.
 */
export const rehearsal = scriptedModel((prompt) => answerSoFar(prompt), {
  modelId: 'rehearsal',
  latencyMs: Number(process.env['APOMESH_REHEARSAL_LATENCY_MS'] ?? 0),
});
