import type { Context } from '../context.ts';
import { WorkspaceUnavailable } from './workspace-unavailable.ts';

/** Refuses at once where no sandbox can be made, by what the runner said last. */
export function requireRunner(ctx: Context): void {
  const status = ctx.runnerStatus();
  if (!status) throw new WorkspaceUnavailable('No runner answers. Try again in a moment.');
  if (!status.ok) throw new WorkspaceUnavailable(`No sandbox can be made here: ${status.missing.join('; ')}`);
}

/** The runner of this host as a workspace's row names it; null while none answers. */
export const runnerIdOf = (ctx: Context) => {
  const status = ctx.runnerStatus();
  return status ? `${status.id}:${status.pid}` : null;
};
