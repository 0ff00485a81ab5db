import { type AnswerCommands, answerCommands } from '../contract/commands.ts';
import type { Stores } from '../ports/store.ts';
import type { Envelope, EnvelopeOf, PauseKind } from '../session/envelopes.ts';
import type { Json, JsonObject } from '../session/json.ts';
import type { SessionView } from '../session/view.ts';

/** An open pause, with what a person needs to decide. */
export interface Pause {
  readonly session: string;
  readonly pause: string;
  readonly kind: PauseKind;
  /** AgentRef. */
  readonly agent: string | null;
  readonly call: string | null;
  readonly tool: string | null;
  /** The arguments of the call; null where it has none. */
  readonly args: Json;
  /** Why it was raised, where there is more to say than its kind. */
  readonly why: string | null;
  /** Decisions it accepts. */
  readonly accepts: readonly string[];
  /** When it was raised, ISO 8601. */
  readonly at: string;
  /** For each decision the commands that give it. */
  readonly commands: Readonly<Record<string, AnswerCommands>>;
}

/** The open pauses of a session, in the order raised. */
export async function openPauses(
  stores: Pick<Stores, 'load'>,
  view: SessionView,
  log: readonly Envelope[],
): Promise<Pause[]> {
  const raised = view.pauses.flatMap(({ pause }) => {
    const event = log.findLast(
      (event): event is EnvelopeOf<'PauseRaised'> => event.type === 'PauseRaised' && event.data.pause === pause,
    );
    return event ? [event] : [];
  });
  const refs = raised.flatMap(({ data }) => (data.ref ? [data.ref] : []));
  const bodies = refs.length === 0 ? [] : await stores.load(view.session, 'bodies', refs);
  let next = 0;
  return raised.map((event) => {
    const body: JsonObject = event.data.ref ? JSON.parse(bodies[next++] ?? '{}') : {};
    return toPause(event, body);
  });
}

function toPause({ session, agent, at, data }: EnvelopeOf<'PauseRaised'>, body: JsonObject): Pause {
  const { pause, kind, call = null, tool = null, accepts } = data;
  const { args = null, why = null } = body;
  const commands = accepts.map((decision) => [
    decision,
    answerCommands(session, pause, decision, decision === 'edit' ? args : undefined),
  ]);
  return {
    session,
    pause,
    kind,
    agent,
    call,
    tool: tool ?? (typeof body['tool'] === 'string' ? body['tool'] : null),
    args,
    why: typeof why === 'string' ? why : null,
    accepts,
    at,
    commands: Object.fromEntries(commands) as Pause['commands'],
  };
}
