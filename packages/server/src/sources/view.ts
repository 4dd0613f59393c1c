import type { SourceRow } from './store.ts';

/** A source as the API shows it (schema `Source`). */
export const sourceView = (s: SourceRow) => ({
  id: s.id,
  projectId: s.project_id,
  threadId: s.thread_id,
  runId: s.run_id,
  parentSourceIds: s.parent_source_ids,
  origin: s.origin,
  sha256: s.sha256,
  byteSize: s.byte_size,
  fileCount: s.file_count,
  message: s.message,
  commit:
    s.commit_sha === null
      ? null
      : {
          sha: s.commit_sha,
          branch: s.commit_branch,
          keptAside: s.kept_aside ?? [],
          keptAsideCount: s.kept_aside_count ?? 0,
        },
  createdAt: s.created_at.toISOString(),
});
