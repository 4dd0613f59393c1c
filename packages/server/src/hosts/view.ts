import type { BindingRow } from '../db/schema.ts';
import type { EventScope } from '../db/transaction.ts';
import type { WriteResult } from '../http/write-request.ts';
import type { SeenHost } from './store.ts';

export const hostView = (host: SeenHost) => ({
  id: host.id,
  orgId: host.org_id,
  name: host.name,
  status: host.is_online ? 'online' : 'offline',
  share: host.share,
  userId: host.user_id,
  version: host.version,
  providers: host.providers,
  lastSeenAt: host.last_seen_at?.toISOString() ?? null,
  createdAt: host.created_at.toISOString(),
  updatedAt: host.updated_at.toISOString(),
});

export const bindingView = (binding: BindingRow) => ({
  id: binding.id,
  hostId: binding.host_id,
  name: binding.name,
  workspaceModes: binding.workspace_modes,
  isGit: binding.is_git,
  branch: binding.branch,
  removed: binding.removed,
});

/** Writes to a host are published in its organization, and in no project. */
export const scopeOf = ({ org_id: orgId }: Pick<SeenHost, 'org_id'>): EventScope => ({
  orgId,
  projectId: null,
  feed: 'direct',
});

/** The response with the token; replays omit it. */
export function withToken(status: 200 | 201, host: SeenHost, token: string): WriteResult {
  const shown = { ok: true, host: hostView(host) };
  return {
    status,
    scope: scopeOf(host),
    body: { ...shown, token, secretUnavailable: false },
    replay: { ...shown, secretUnavailable: true },
  };
}
