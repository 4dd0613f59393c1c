import Type from 'typebox';
import type { CheckpointRow } from '../db/schema.ts';
import { Enum, Id, Nullable, Time } from '../http/schemas.ts';

export const Checkpoint = Type.Object({
  id: Id('chk'),
  threadId: Id('thr'),
  runId: Nullable(Id('run')),
  sourceId: Id('src'),
  kind: Enum(['run', 'edit', 'recovery']),
  createdAt: Time,
});

export const checkpointView = (c: CheckpointRow) => ({
  id: c.id,
  threadId: c.thread_id,
  runId: c.run_id,
  sourceId: c.source_id,
  kind: c.kind,
  createdAt: c.created_at.toISOString(),
});
