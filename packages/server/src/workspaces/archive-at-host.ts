import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { hostStanding } from '../hosts/index.ts';
import { readUnsaved } from './save-workspace.ts';
import type { Unsaved } from './save-workspace.ts';

/**
 * What a worktree has that is in no source, before it goes. A folder stays as it is. `away`: nobody can say; a thread
 * whose worktree has to be saved waits for its host, all else is told to it when it is back.
 */
export async function readAtHost(ctx: Context, thread: ThreadRow): Promise<Unsaved | null | 'away'> {
  const { target } = ctx.host!;
  const { is } = await hostStanding(ctx, target.hostId);
  if (is === 'gone' || thread.deleted_at || target.workspaceMode === 'direct') return null;
  if (is === 'away') return 'away';
  return readUnsaved(ctx, thread).catch((error: unknown) => {
    if (error instanceof RunnerError && error.status === 503) return 'away' as const;
    // It is gone, or cannot be read for good: its last saved source counts.
    if (error instanceof RunnerError && error.status !== 409) return null;
    throw error;
  });
}

/**
 * Whether the end of a workspace at a host needs no further attempt: the host is gone or has nothing of it, or it is away and
 * hears when it is back that the thread was deleted, or has nothing but a folder to forget.
 */
export function isLeftToHost(
  { host }: Pick<Context, 'host'>,
  thread: Pick<ThreadRow, 'deleted_at'>,
  fault: unknown,
): boolean {
  if (!host || !(fault instanceof RunnerError)) return false;
  if (fault.status === 404) return true;
  return fault.status === 503 && (thread.deleted_at !== null || host.target.workspaceMode === 'direct');
}
