import type { SetupRow } from '../db/schema.ts';

/** A setup as the API shows it. */
export const setupView = (s: SetupRow) => ({
  id: s.id,
  projectId: s.project_id,
  key: s.key,
  command: s.command,
  sourceId: s.source_id,
  status: s.status,
  exitCode: s.exit_code,
  error: s.error_code === null ? null : { code: s.error_code, message: s.error_message ?? s.error_code },
  byteSize: s.byte_size,
  createdAt: s.created_at.toISOString(),
  startedAt: s.started_at?.toISOString() ?? null,
  finishedAt: s.finished_at?.toISOString() ?? null,
});
