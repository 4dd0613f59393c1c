import type { ProjectRow } from '../db/schema.ts';

export const appView = (p: ProjectRow) => ({
  id: p.id,
  projectId: p.id,
  orgId: p.org_id,
  name: p.name,
  externalId: p.external_id,
  metadata: p.metadata,
  headSourceId: p.head_source_id,
  headRevision: p.head_revision,
  version: p.version,
  createdAt: p.created_at.toISOString(),
  updatedAt: p.updated_at.toISOString(),
  deletedAt: p.deleted_at?.toISOString() ?? null,
});

export const projectView = (p: ProjectRow) => ({
  id: p.id,
  orgId: p.org_id,
  name: p.name,
  kind: p.kind,
  repositoryId: p.repository_id,
  repoFullName: p.repo_full_name,
  defaultBranch: p.default_branch,
  headSourceId: p.head_source_id,
  headRevision: p.head_revision,
  headCommitSha: p.head_commit_sha,
  metadata: p.metadata,
  version: p.version,
  createdAt: p.created_at.toISOString(),
  updatedAt: p.updated_at.toISOString(),
  deletedAt: p.deleted_at?.toISOString() ?? null,
});

export const headView = (p: ProjectRow) => ({
  projectId: p.id,
  sourceId: p.head_source_id!,
  revision: p.head_revision!,
  updatedAt: p.head_updated_at!.toISOString(),
});

/** The data of an app's events: identities and times, never its name or metadata. */
export const appEventData = (p: ProjectRow) => ({
  id: p.id,
  externalId: p.external_id,
  createdAt: p.created_at.toISOString(),
  updatedAt: p.updated_at.toISOString(),
});
