import Type from 'typebox';
import type { ThreadRow } from '../db/schema.ts';
import { Enum, Nullable, Ok, Time } from '../http/schemas.ts';
import { WORKSPACE_STATUSES } from '../threads/index.ts';

export const IdleMinutes = Type.Integer({ minimum: 1, maximum: 60, examples: [15] });

export const WorkspacePolicy = Ok({
  policy: Nullable(Type.Object({ idleTimeoutMinutes: IdleMinutes })),
  expiresAt: Nullable(Time),
  workspaceStatus: Nullable(Enum(WORKSPACE_STATUSES)),
});

/** A null policy means the app's, organization's or service's default. */
export const policyView = (t: ThreadRow) => ({
  ok: true,
  policy: t.idle_timeout_minutes === null ? null : { idleTimeoutMinutes: t.idle_timeout_minutes },
  expiresAt: t.idle_expires_at?.toISOString() ?? null,
  workspaceStatus: t.workspace_status,
});
