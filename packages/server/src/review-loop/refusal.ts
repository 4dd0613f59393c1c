import { scriptOf } from '@headrace/agent/script.ts';
import { agentOf } from '../agents/index.ts';
import type { Context } from '../context.ts';
import type { Tx } from '../db/transaction.ts';
import type { LoadedPullRequest } from '../pull-requests/index.ts';
import { repairAgent } from '../runs/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { spendRefusal } from '../usage/index.ts';

interface Wanting {
  thread: LoadedThread;
  loaded: LoadedPullRequest;
}

/** The model of a pass, which is the thread's or else the settings', and its agent. */
export async function passAgent(
  tx: Tx,
  { config }: Pick<Context, 'config'>,
  { thread, project }: LoadedThread,
): Promise<{ modelId: string; agent: string; instructions: string }> {
  const { modelId: usual, reviewLoop } = await effectiveSettings(tx.db, project);
  const modelId = thread.model_id ?? usual;
  const agent = thread.execution_target?.provider ?? agentOf(config, modelId);
  return { modelId, agent, instructions: reviewLoop.instructions };
}

/** Why no pass can begin in a thread now; null if one can. */
export async function refusalOf(
  tx: Tx,
  ctx: Pick<Context, 'config'>,
  { thread, loaded: { row } }: Wanting,
): Promise<'spend_limit' | 'not_configured' | null> {
  const { modelId, agent, instructions } = await passAgent(tx, ctx, thread);
  const of = { org_id: row.org_id, project_id: row.project_id, thread_id: row.thread_id };
  if (await spendRefusal(tx.db, { ...of, agent, model_id: modelId }, ctx.config)) return 'spend_limit';
  const isConfigured =
    row.scm_summary?.mergeable === 'conflicting'
      ? (await repairAgent(tx.db, of, [], [])) !== null
      : agent !== 'scripted' || scriptOf(instructions).length > 0;
  return isConfigured ? null : 'not_configured';
}
