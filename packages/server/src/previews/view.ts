import type { Context } from '../context.ts';
import type { PreviewRow } from '../db/schema.ts';
import { addressOf } from './address.ts';

const followOf = (p: PreviewRow): 'thread' | 'head' | null => {
  if (p.thread_id !== null) return 'thread';
  return p.follows_head ? 'head' : null;
};

export function previewView(ctx: Pick<Context, 'config' | 'listening'>, p: PreviewRow) {
  return {
    id: p.id,
    projectId: p.project_id,
    threadId: p.thread_id,
    sourceId: p.source_id,
    follow: followOf(p),
    status: p.status,
    url: addressOf(ctx, p.token),
    command: p.command,
    port: p.port,
    setup: p.setup,
    error: p.error_code === null ? null : { code: p.error_code, message: p.error_message ?? p.error_code },
    createdAt: p.created_at.toISOString(),
    expiresAt: p.expires_at?.toISOString() ?? null,
  };
}
