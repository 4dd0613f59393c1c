import Type from 'typebox';
import type { ApprovalRow } from '../db/schema.ts';
import { Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';

export const Approval = Type.Object({
  id: Id('apr'),
  threadId: Id('thr'),
  runId: Id('run'),
  toolId: Id('tool'),
  title: Text('npm install'),
  status: Enum(['pending', 'approved', 'denied', 'expired']),
  createdAt: Time,
  expiresAt: Time,
  resolvedBy: Nullable(Type.String({ examples: ['sa_01k9x3v5e8f7arh2m4t6w8y0zb'] })),
  resolvedAt: Nullable(Time),
});

export const approvalView = (a: ApprovalRow) => ({
  id: a.id,
  threadId: a.thread_id,
  runId: a.run_id,
  toolId: a.tool_id,
  title: a.title,
  status: a.status,
  createdAt: a.created_at.toISOString(),
  expiresAt: a.expires_at.toISOString(),
  resolvedBy: a.resolved_by,
  resolvedAt: a.resolved_at?.toISOString() ?? null,
});
