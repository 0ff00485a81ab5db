export {
  type AgentDefinition,
  type AgentManifest,
  type Budget,
  type DispatchMode,
  defineAgent,
  type RoleDefinition,
} from './agent/agent.ts';
export type { McpServerDefinition } from './agent/mcp.ts';
export {
  defineTool,
  type Reconciled,
  type ToolContext,
  type ToolDefinition,
  type ToolOptions,
  type ToolRetry,
} from './agent/tool.ts';
export { ApomeshClient, type ApomeshClientOptions } from './client/client.ts';
export type { Effect, EffectRecord, LateEvidence } from './client/effects.ts';
export { GoalTooLargeError, NoWorkerError, SessionFailedError, SessionStoppedError } from './client/errors.ts';
export type { SessionHandle } from './client/handle.ts';
export type { SessionSummary } from './client/list.ts';
export type { Outcome } from './client/output.ts';
export type { Pause } from './client/pauses.ts';
export type { Recovery, Resumed, ResumeOptions, ScanOptions } from './client/recovery.ts';
export type { Standstill } from './client/standstill.ts';
export type { StartOptions } from './client/start.ts';
export type { TailOptions } from './client/tail.ts';
export type { Problem, Verification } from './client/verify.ts';
export {
  AgentNotFoundError,
  ApomeshError,
  BodyMissingError,
  BodyTooLargeError,
  ConfigInvalidError,
  type ErrorCode,
  FencedError,
  InvalidAnswerError,
  InvalidToolInputError,
  LogUnreadableError,
  NoBootstrapError,
  PauseAnsweredError,
  PinCorruptError,
  SessionLiveError,
  SessionNotFoundError,
  SessionStuckError,
  SessionTerminalError,
  StoreUnreachableError,
  TemporalUnreachableError,
  ToolChangedError,
  ToolMissingError,
  ToolOutcomeUnknownError,
  UnknownPauseError,
  UnserializableValueError,
  UsageError,
  WorkerShutdownError,
} from './contract/errors.ts';
export {
  BundleTooLargeError,
  FileInvalidError,
  SkillNotFoundError,
  SkillNotInBundleError,
  VersionConflictError,
} from './contract/pin-errors.ts';
export type { Finding } from './contract/recovery.ts';
export { draw, randomOf, sessionSeed, stepSeed, uuidOf } from './determinism/randomness.ts';
export { scriptedModel } from './models/scripted.ts';
export type { Bundles, Exported, GcOptions, Imported, Swept } from './plugin/bundles.ts';
export { type ApomeshConfig, defineConfig } from './plugin/config.ts';
export { ApomeshPlugin, type ApomeshPluginOptions } from './plugin/plugin.ts';
export type { AgentVersion, Change, Publication, Publishing } from './plugin/publishing.ts';
export type { PutSkill, Skills } from './plugin/skills.ts';
export type { PublishedEntry, SealedEntry } from './ports/pins.ts';
export type { Skill, SkillEntry } from './ports/skills.ts';
export type { RecoverableEntry, Stores } from './ports/store.ts';
export { canonicalJson } from './session/canonical-json.ts';
export { bodyDigest } from './session/digest.ts';
export { type BodyRef, type Envelope, type EventType, parseEnvelope } from './session/envelopes.ts';
export { bootstrap, evolve, fold } from './session/fold.ts';
export type { Json, JsonObject } from './session/json.ts';
export { effectKey } from './session/keys.ts';
export type { RecoveryClass } from './session/recovery.ts';
export { empty, type SessionView } from './session/view.ts';
