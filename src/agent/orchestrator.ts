import { z } from 'zod';

/** A tool of the platform's own, with which an agent changes its session (E1). */
export interface OrchestratorTool {
  /** What `Applied` calls it. */
  readonly op: string;
  readonly description: string;
  readonly input: z.ZodType;
}

/**
 * The orchestrator tools by the names that agents and models use: an op's dots are underscores, as providers take no dots.
 * What each does is in `src/journal/orchestration.ts`.
 */
export const orchestratorTools = {
  checkpoint_now: {
    op: 'checkpoint.now',
    description: 'Saves a checkpoint of your own state now. Use it before or after something that must not be lost.',
    input: z.strictObject({}),
  },
} as const satisfies Readonly<Record<string, OrchestratorTool>>;

export type OrchestratorToolName = keyof typeof orchestratorTools;

export const isOrchestratorTool = (name: string): name is OrchestratorToolName =>
  Object.hasOwn(orchestratorTools, name);
