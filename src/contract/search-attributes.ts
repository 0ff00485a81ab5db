import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Name of the agent that a session was started with. */
export const AGENT = defineSearchAttributeKey('ApomeshAgent', SearchAttributeType.KEYWORD);
/** Phase of the root agent. */
export const PHASE = defineSearchAttributeKey('ApomeshPhase', SearchAttributeType.KEYWORD);
/** Kinds of the open pauses. */
export const AWAITING = defineSearchAttributeKey('ApomeshAwaiting', SearchAttributeType.KEYWORD_LIST);

export const searchAttributes = [AGENT, PHASE, AWAITING] as const;
