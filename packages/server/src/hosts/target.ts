/** Who may work at which host, and with what it offers. */
import type { Db } from '../db/database.ts';
import type { BindingRow, ExecutionTarget, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, invalid, notFound } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import { loadHost } from './policy.ts';
import { selectHosts } from './store.ts';
import type { SeenHost } from './store.ts';

/**
 * Refuses a target of a new thread, in this order: a host or binding that is not there, a host of somebody else that
 * is not shared, one that is offline, and what it does not offer.
 */
export async function requireTarget(
  tx: Tx,
  principal: Principal,
  { hostId, bindingId, provider, workspaceMode }: ExecutionTarget,
): Promise<void> {
  const host = await loadHost(tx.db, principal, hostId);
  const binding = await findBinding(tx.db, host.id, bindingId);
  if (!binding) throw notFound('binding');
  requireShared(host, principal);
  if (!host.is_online) throw offline();
  const faults = [
    ...(host.providers.includes(provider)
      ? []
      : [{ path: '/executionTarget/provider', message: 'is not offered by the host' }]),
    ...(binding.workspace_modes.includes(workspaceMode)
      ? []
      : [{ path: '/executionTarget/workspaceMode', message: 'is not offered by the binding' }]),
  ];
  if (faults.length > 0) throw invalid(...faults);
}

/** Refuses more work in a thread by callers for whom its host does not work, and once host or binding are gone. */
export async function requireHostFor(
  tx: Tx,
  principal: Principal,
  { execution_target: target, org_id: orgId }: Pick<ThreadRow, 'execution_target' | 'org_id'>,
): Promise<void> {
  if (!target) return;
  const host = await selectHosts(tx.db)
    .where('org_id', '=', orgId)
    .where('id', '=', target.hostId)
    .executeTakeFirst();
  if (host) requireShared(host, principal);
  if (!host || host.deleted_at !== null || !(await findBinding(tx.db, host.id, target.bindingId)))
    throw new ApiError(
      'host_offline',
      'The host of this thread is gone, or offers its folder no more. Begin another thread.',
    );
}

/** Refuses what threads at a host do not have. `mode`: only in that one. */
export function requireNoHost(
  { execution_target: target }: Pick<ThreadRow, 'execution_target'>,
  mode?: ExecutionTarget['workspaceMode'],
): void {
  if (!target || (mode !== undefined && target.workspaceMode !== mode)) return;
  throw new ApiError(
    'unsupported_on_host',
    mode === undefined
      ? "A thread that works on a person's own machine does not have this."
      : `A thread that works in a folder itself (workspaceMode ${mode}) does not have this.`,
  );
}

function requireShared({ share, user_id: userId }: SeenHost, principal: Principal): void {
  if (share !== 'organization' && principal.userId !== userId)
    throw new ApiError('forbidden', 'This host works for its person alone: its program does not share it.');
}

const offline = () =>
  new ApiError('host_offline', 'The host is offline. Start its program, headrace host, and retry.');

async function findBinding(
  db: Db | Tx['db'],
  hostId: string,
  bindingId: string,
): Promise<BindingRow | undefined> {
  return db
    .selectFrom('bindings')
    .selectAll()
    .where('host_id', '=', hostId)
    .where('id', '=', bindingId)
    .where('removed', '=', false)
    .executeTakeFirst();
}
