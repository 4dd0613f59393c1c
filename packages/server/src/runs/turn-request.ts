/** The runner's request for a run: the agent, its prompt and tools, and the thread's earlier messages. */
import type { TurnRequest } from '@headrace/runner/protocol';
import { sql } from 'kysely';
import { turnAgent } from '../agents/index.ts';
import type { Rules } from '../approvals/index.ts';
import type { Context } from '../context.ts';
import type { MessageRow, ProjectRow, RunRow } from '../db/schema.ts';
import { mcpServersOf } from '../mcp-servers/index.ts';
import { newestOf } from '../messages/index.ts';
import { sandboxOf } from '../settings/index.ts';
import { toldOf } from '../skills/index.ts';
import { openModelKey, spendRefusal } from '../usage/index.ts';
import type { RunError } from './schemas.ts';
import { runToken } from './token.ts';

/** The runner's limit on a turn; a longer one fails. */
export const TURN_LIMIT_MS = 60 * 60_000;
/** Of earlier messages, for an agent that has lost its session, or never had one. */
const HISTORY_MESSAGES = 100;

interface Refusal {
  code: RunError;
  message: string;
}

/** Why a run is refused before its agent starts: its money is spent, or its agent is not configured. */
export async function refusalOf(ctx: Context, run: RunRow, rules: Rules): Promise<Refusal | null> {
  if (run.agent === 'scripted') return null;
  const spent = await spendRefusal(ctx.db, run, ctx.config);
  if (spent) return spent;
  const agent = turnAgent(ctx.config, {
    agent: run.agent,
    modelId: run.model_id,
    token: '',
    asks: asksFor(rules),
  });
  if ('missing' in agent) return { code: 'not_configured', message: agent.missing };
  const provider = run.model_id.split('/', 1)[0]!;
  if (
    ctx.config.providers[provider]!.key === 'none' ||
    (await openModelKey(ctx, run.org_id, provider)) !== null
  )
    return null;
  return {
    code: 'not_configured',
    message: `The organization has no key of the provider ${provider}. Store one with PUT /api/model-keys/${provider}, or use the model scripted.`,
  };
}

const asksFor = (rules: Rules): boolean => rules.some((rule) => rule.decision !== 'allow');

/** Throws when the run's agent is not configured; `refusalOf` finds that first. */
export async function turnRequest(
  ctx: Context,
  project: ProjectRow,
  run: RunRow,
  rules: Rules,
): Promise<TurnRequest> {
  const asks = asksFor(rules);
  const token = runToken(ctx.secretKey, run.id);
  const agent = turnAgent(ctx.config, { agent: run.agent, modelId: run.model_id, token, asks });
  if ('missing' in agent) throw new Error(agent.missing);
  const { variableTargets, ...sandbox } = await sandboxOf(ctx, run, 'run');
  const common = {
    kind: 'turn' as const,
    workspaceId: run.thread_id,
    agent,
    permissions: asks ? ('ask' as const) : ('allow' as const),
    timeoutMs: TURN_LIMIT_MS,
    ...sandbox,
  };
  const { told, ...folder } = toldOf(run);
  const { prompt, attachments, history } = await conversationOf(ctx, run);
  if (run.agent === 'scripted') return { ...common, ...folder, prompt };
  return {
    ...common,
    prompt,
    gateway: true,
    history,
    mcpServers: await mcpServersOf(ctx, project, token),
    ...(variableTargets && { variableTargets }),
    ...folder,
    ...(told && { told }),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

/** What is said to a run's agent, and what was said before. */
export async function conversationOf(ctx: Context, run: RunRow) {
  const messages = await messagesOf(ctx, run);
  return {
    prompt: run.prompt ?? messages.map(({ content }) => content).join('\n\n'),
    attachments: messages.flatMap((message) => message.attachments ?? []),
    history: await historyBefore(ctx, run, messages[0]?.sequence ?? null),
  };
}

/**
 * The messages that a run answers. A retry of a message that had joined a run repeats the messages of that
 * run too, as its work is gone as well.
 */
async function messagesOf(
  ctx: Context,
  run: RunRow,
): Promise<Pick<MessageRow, 'content' | 'attachments' | 'sequence'>[]> {
  if (run.message_id === null) return [];
  const isRetry = run.kind === 'retry';
  const last = ctx.db
    .selectFrom('messages')
    .select(isRetry ? 'run_id' : 'id')
    .where('id', '=', run.message_id);
  return ctx.db
    .selectFrom('messages')
    .select(['content', 'attachments', 'sequence'])
    .where('thread_id', '=', run.thread_id)
    .where('role', 'in', isRetry ? ['user'] : ['user', 'system'])
    .where(isRetry ? 'run_id' : 'id', '=', last)
    .orderBy('sequence')
    .execute();
}

/**
 * The thread's last messages before one (null: all), oldest first, without the oldest if there are many; before them,
 * what a fork inherited. System messages count as a user's.
 */
async function historyBefore(
  ctx: Context,
  run: Pick<RunRow, 'thread_id'>,
  sequence: number | null,
): Promise<{ role: 'user' | 'assistant'; content: string }[]> {
  const said = sql`
    with own as (
      select role, content, 1 as turn, sequence as place from messages
      where thread_id = ${run.thread_id} and (role <> 'system' or run_id is not null) and (${sequence}::bigint is null or sequence < ${sequence})
      order by sequence desc limit ${HISTORY_MESSAGES}
    ), inherited as (
      select role, content, 0, position from inherited_messages
      where thread_id = ${run.thread_id} and (select count(*) from own) < ${HISTORY_MESSAGES}
    )
    select * from own union all select * from inherited`;
  const { rows } = await sql<Pick<MessageRow, 'role'> & { kept: string }>`
    select role, kept from (${newestOf(said)}) as newest order by turn, place`.execute(ctx.db);
  return rows.map(({ role, kept }) => ({ role: role === 'assistant' ? role : 'user', content: kept }));
}
