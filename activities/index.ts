import type { ApomeshActivities } from '../src/contract/activities.ts';
import { acceptAnswer } from './accept-answer.ts';
import { callTool } from './call-tool.ts';
import { dispatchAgent } from './dispatch-agent.ts';
import { endAgent } from './end-agent.ts';
import type { Engine } from './engine.ts';
import { generate } from './generate.ts';
import { parkAgent } from './park-agent.ts';
import { resumeSession } from './resume-session.ts';
import { scanSessions } from './scan-sessions.ts';

export type { Engine, Leaving } from './engine.ts';
export { Sessions } from './sessions.ts';

/** The activities of a worker, over its engine. */
export const createActivities = (engine: Engine): ApomeshActivities => ({
  dispatchAgent: dispatchAgent(engine),
  generate: generate(engine),
  callTool: callTool(engine),
  acceptAnswer: acceptAnswer(engine),
  parkAgent: parkAgent(engine),
  endAgent: endAgent(engine),
  resumeSession: resumeSession(engine),
  scanSessions: scanSessions(engine),
});
