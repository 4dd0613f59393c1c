import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { WorkspaceUnavailable } from './workspace-unavailable.ts';

/** Throws WorkspaceUnavailable where no sandbox can be made, by the runner's last status. */
export function requireRunner(ctx: Context): void {
  const status = ctx.runnerStatus();
  if (!status) throw new WorkspaceUnavailable('No runner answers. Try again in a moment.');
  if (!status.ok) throw new WorkspaceUnavailable(`No sandbox can be made here: ${status.missing.join('; ')}`);
}

/** A runner as rows name it: in a fleet by its id, which each start has anew, else with its pid. */
export const runnerName = (
  { fleet }: Pick<Context, 'fleet'>,
  { id, pid }: Pick<RunnerStatus, 'id' | 'pid'>,
): string => (fleet ? id : `${id}:${pid}`);

/** This host's runner as a workspace's row names it; null while none answers. */
export const runnerIdOf = (ctx: Context) => {
  const status = ctx.runnerStatus();
  return status ? runnerName(ctx, status) : null;
};
