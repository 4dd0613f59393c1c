import type { ApplyRow } from '../db/schema.ts';

export const applyView = (a: ApplyRow) => ({
  id: a.id,
  sequence: a.sequence,
  conflictResolution: a.conflict_resolution,
  repairs: a.repairs,
  orgId: a.org_id,
  projectId: a.project_id,
  threadId: a.thread_id,
  baseSourceId: a.base_source_id,
  draftSourceId: a.draft_source_id,
  headSourceId: a.head_source_id,
  resultSourceId: a.result_source_id,
  expectedHeadSourceId: a.expected_head_source_id,
  resolutions: a.resolutions,
  status: a.status,
  conflicts: a.conflicts,
  error: a.error,
  createdByUserId: a.created_by,
  createdAt: a.created_at.toISOString(),
  finishedAt: a.finished_at?.toISOString() ?? null,
});
