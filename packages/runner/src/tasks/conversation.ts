import type { Mask } from '../masking/mask.ts';
import type { SteerRequest, TurnRequest } from '../protocol.ts';
import type { AcpConnection, Params } from './acp-connection.ts';
import { openSession, type Session } from './acp-session.ts';
import type { Journal } from './journal.ts';
import { messageBlocks, promptBlocks, type Prompted } from './prompt.ts';
import type { Steering } from './steering.ts';
import type { WorkEnd } from './task.ts';
import type { TurnUpdates } from './turn-updates.ts';

/** The scripted agent sets this key in a response's _meta when a block failed; its value is the reason. */
const SCRIPT_FAILED = 'headrace/scriptFailed';

/** What is known of an agent's earlier turns in a workspace. */
export interface Memory {
  /** The session to resume, where there is one. */
  sessionId: string | null;
  /** Whether the last turn of that session did not complete. */
  wasInterrupted: boolean;
}

/** One turn's talk with an agent that has been started. */
export interface Talk {
  request: Prompted & Pick<TurnRequest, 'mcpServers'>;
  /** The folder that it works in, as it sees it. */
  cwd: string;
  /** Changed by the turn; undefined for an agent that remembers nothing. */
  memory: Memory | undefined;
  journal: Journal;
  mask: Mask;
  updates: TurnUpdates;
  steering: Steering;
  /** What is still to be set in the session. */
  prepare?: (session: Session) => Promise<void>;
  /** Called when the memory has changed and the agent is about to get the message. */
  onReady?: () => void;
}

/** Opens the session, gives the agent its message, and waits for the end of the turn. Throws what the connection does. */
export async function converse(connection: AcpConnection, talk: Talk): Promise<WorkEnd> {
  const { request, memory, updates, steering, journal } = talk;
  const session = await openSession(connection, { ...request, cwd: talk.cwd }, memory?.sessionId ?? null);
  await talk.prepare?.(session);
  const prompt = promptBlocks(request, session, memory?.wasInterrupted ?? false);
  if (memory) {
    memory.sessionId = session.id;
    memory.wasInterrupted = true;
  }
  talk.onReady?.();
  // Everything so far was a replay of an earlier conversation.
  updates.begin();
  const answered = connection.request('session/prompt', {
    sessionId: session.id,
    prompt,
    ...toldOwn(request),
  });
  if (session.steerable) steering.open((message) => steer(connection, { session, journal, message }));
  journal.append({ type: 'ready', steerable: session.steerable });
  return endOf(await answered, updates.denied, talk.mask);
}

/** The built-in agent has what it is told in its system prompt. */
const toldOwn = ({ agent, told }: Talk['request']): { _meta?: Params } =>
  agent.command === null && told ? { _meta: { 'headrace/context': told } } : {};

async function steer(
  connection: AcpConnection,
  { session, journal, message }: { session: Session; journal: Journal; message: SteerRequest },
): Promise<boolean> {
  const { id, prompt, attachments = [] } = message;
  const { taken } = await connection.request('_headrace/steer', {
    sessionId: session.id,
    id,
    prompt: attachments.length > 0 ? messageBlocks(prompt, attachments, session) : prompt,
  });
  if (taken === true) journal.append({ type: 'steered', id });
  return taken === true;
}

/** `denied`: the title of the last denied call, if nothing came after it. */
function endOf({ stopReason, _meta: meta }: Params, denied: string | null, mask: Mask): WorkEnd {
  const reason = (meta as Params | undefined | null)?.[SCRIPT_FAILED];
  if (typeof reason === 'string')
    return { ...failed(''), error: { code: 'script_failed', message: mask.text(reason).slice(0, 1000) } };
  if (stopReason === 'refusal') return failed('The agent refused the message.');
  if (stopReason === 'cancelled')
    return failed(
      denied === null
        ? 'The agent cancelled its turn.'
        : `The agent ended its turn because the call \`${denied}\` was denied.`,
    );
  if (typeof stopReason !== 'string') return failed('The agent ended its turn without saying how.');
  return { outcome: 'completed', exitCode: null, signal: null, error: null };
}

/** The end of a turn whose agent failed. */
export function failed(message: string): WorkEnd {
  return {
    outcome: 'failed',
    exitCode: null,
    signal: null,
    error: { code: 'agent_error', message: message.trim().slice(0, 2000) },
  };
}
