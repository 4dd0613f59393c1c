import type { Context } from '../context.ts';
import type {
  CommitStatusRow,
  InstallationRow,
  LocalCommentRow,
  LocalPullRequestRow,
  RepositoryRow,
} from '../db/schema.ts';
import { publicUrl } from '../http/public-url.ts';

type Addressed = Pick<Context, 'config' | 'listening'>;

const SCM = '/api/source-control/scm';

export const installationView = (ctx: Addressed, i: InstallationRow) => ({
  id: i.id,
  orgId: i.org_id,
  provider: i.provider,
  name: i.name,
  accountLogin: i.account_login,
  baseUrl: i.base_url,
  auth: i.auth,
  managedBy: i.managed_by,
  status: i.error ? ('error' as const) : ('connected' as const),
  error: i.error,
  webhookUrl: i.auth === 'none' ? null : `${publicUrl(ctx)}${SCM}/webhooks/${i.id}`,
  webhookReceivedAt: i.webhook_received_at?.toISOString() ?? null,
  syncedAt: i.synced_at?.toISOString() ?? null,
  createdAt: i.created_at.toISOString(),
  updatedAt: i.updated_at.toISOString(),
});

/** One that is hosted here has addresses of this service. */
export const repositoryView = (ctx: Addressed, r: RepositoryRow) => ({
  id: r.id,
  installationId: r.installation_id,
  provider: r.provider,
  fullName: r.full_name,
  name: r.name,
  private: r.private,
  archived: r.archived,
  defaultBranch: r.default_branch,
  url: r.url ?? `${publicUrl(ctx)}${SCM}/repositories/${r.id}`,
  cloneUrl: r.clone_url ?? `${publicUrl(ctx)}/git/${r.name}.git`,
  mergeMethods: r.merge_methods,
  requiredChecks: r.required_checks,
  createdAt: r.created_at.toISOString(),
  updatedAt: r.updated_at.toISOString(),
});

export const statusView = (s: CommitStatusRow) => ({
  id: s.id,
  commitSha: s.commit_sha,
  context: s.context,
  state: s.state,
  description: s.description,
  targetUrl: s.target_url,
  hasLog: s.log !== null,
  createdByUserId: s.created_by,
  createdAt: s.created_at.toISOString(),
});

export const localPullUrl = (ctx: Addressed, repositoryId: string, number: number): string =>
  `${publicUrl(ctx)}${SCM}/repositories/${repositoryId}/pull-requests/${number}`;

export const localPullView = (
  ctx: Addressed,
  repository: RepositoryRow,
  p: LocalPullRequestRow & { thread_id: string | null },
) => ({
  number: p.number,
  repositoryId: p.repository_id,
  repoFullName: repository.full_name,
  url: localPullUrl(ctx, p.repository_id, p.number),
  title: p.title,
  body: p.body,
  state: p.state,
  draft: p.draft,
  headRef: p.head_ref,
  headSha: p.head_sha,
  baseRef: p.base_ref,
  mergeable: p.mergeable,
  mergeCommitSha: p.merge_commit_sha,
  author: p.author,
  threadId: p.thread_id,
  createdAt: p.created_at.toISOString(),
  updatedAt: p.updated_at.toISOString(),
});

export const commentView = (c: LocalCommentRow) => ({
  id: c.id,
  body: c.body,
  path: c.path,
  line: c.line,
  inReplyTo: c.in_reply_to,
  resolved: c.resolved,
  author: c.author,
  createdAt: c.created_at.toISOString(),
});
