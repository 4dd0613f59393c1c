import { sql } from 'kysely';
import { json } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** Kinds and what they carry: ids only, the handler reads the state again. */
export interface JobKinds {
  'thread.initialize': { threadId: string };
  'run.work': { threadId: string };
  'exec.work': { operationId: string; requestId: string; threadId: string; command: string; timeoutSeconds: number; stdin?: string };
  'apply.merge': { projectId: string };
  'build.work': { buildId: string };
  'preview.work': { previewId: string };
  'workspace.archive': { threadId: string };
  'source.repack': { projectId: string };
}
export type JobKind = keyof JobKinds;

/**
 * Adds a job in the caller's transaction and wakes a worker after its commit. Jobs of one `key` run one at a time, in order.
 * `delaySeconds` counts on the database's clock.
 */
export async function enqueue<K extends JobKind>(tx: Tx, kind: K, payload: JobKinds[K], options: { key?: string; delaySeconds?: number } = {}): Promise<void> {
  await tx.db.insertInto('jobs').values({
    kind, payload: json(payload as Record<string, unknown>), key: options.key ?? null,
    ...(options.delaySeconds ? { run_at: sql<Date>`now() + ${options.delaySeconds} * interval '1 second'` } : {}),
  }).execute();
  tx.wake('jobs');
}
