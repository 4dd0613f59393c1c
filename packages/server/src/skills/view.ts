import type { SkillRow } from '../db/schema.ts';

export const skillView = (s: SkillRow) => ({
  id: s.id,
  name: s.name,
  description: s.description,
  level: s.project_id === null ? ('organization' as const) : ('app' as const),
  fileCount: s.file_count,
  byteSize: s.byte_size,
  sha256: s.sha256,
  createdAt: s.created_at.toISOString(),
  updatedAt: s.updated_at.toISOString(),
});
