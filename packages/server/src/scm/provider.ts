/**
 * A provider of source control as the service sees it. Nothing outside of a provider's own folder knows its
 * name: what it cannot do it says in `capabilities`, and what goes wrong there is a ProviderError.
 */
import type { Context } from '../context.ts';
import type { InstallationRow, Mergeable, MergeMethod, RepositoryRow } from '../db/schema.ts';

/** Whose credential is used. */
export interface AtInstallation {
  ctx: Context;
  installation: InstallationRow;
}

/** A repository, with the installation that reaches it now. */
export interface AtRepository extends AtInstallation {
  repository: RepositoryRow;
}

/** A repository that can be asked: what `openRepository` gives. */
export interface OpenRepository {
  provider: Provider;
  at: AtRepository;
}

/** A repository as its provider knows it. */
export interface ProviderRepository {
  externalId: string;
  fullName: string;
  name: string;
  private: boolean;
  archived: boolean;
  defaultBranch: string;
  url: string;
  cloneUrl: string;
  /** Undefined where a list does not tell. */
  mergeMethods?: MergeMethod[];
}

export interface ProviderBranch {
  name: string;
  commitSha: string;
  isDefault: boolean;
  protected: boolean;
}

export interface ProviderPullRequest {
  number: number;
  url: string;
  title: string;
  body: string;
  state: 'open' | 'closed' | 'merged';
  draft: boolean;
  headRef: string;
  headSha: string;
  /** Whether the head branch is of the same repository. */
  isOwnHead: boolean;
  baseRef: string;
  mergeable: Mergeable;
  mergeQueued: boolean;
  mergeCommitSha: string | null;
  mergedAt: string | null;
  /** When it, a comment or a review of it changed last; null where the provider does not say. */
  changedAt: string | null;
}

export interface ProviderCheck {
  name: string;
  state: 'succeeded' | 'failing' | 'running';
  url: string | null;
  summary: string | null;
  /** What `checkLog` takes; null where there is no log. */
  logId: string | null;
}

export interface ReviewThread {
  id: string;
  isResolved: boolean;
  path: string | null;
  line: number | null;
  /** The first comment, and at least the last fifty. */
  comments: {
    id: string;
    author: string;
    isOwn: boolean;
    canWrite: boolean;
    body: string;
    createdAt: string;
  }[];
}

/** Where git reaches a repository. `env` carries the credential; it is in no argument and no file. */
export interface GitTransport {
  url: string;
  env: Record<string, string>;
  /** The folder of a repository on this machine: its objects are seen, not copied. */
  folder: string | null;
}

export type MergeRefusal = 'conflicting' | 'draft' | 'checks' | 'review_required' | 'method' | 'protected';

type ProviderFault =
  | { code: 'access_denied'; permission?: string }
  /** The repository is not there (any longer). */
  | { code: 'gone' }
  /** What was asked for in it is not there; a branch, unless it says otherwise. */
  | { code: 'not_found'; what?: 'branch' | 'commit' | 'pull_request' }
  /** `isPrivate`: its name has an address that the service does not connect to. */
  | { code: 'unavailable'; retryAfterSeconds?: number; isPrivate?: true }
  | { code: 'merge_refused'; reason: MergeRefusal }
  | { code: 'head_moved'; headSha: string }
  | { code: 'exists'; number: number | null }
  | { code: 'no_changes' }
  | { code: 'not_open' }
  | { code: 'unsupported' };

/** What a provider refuses, or why it could not be asked. The message is for the log: no URL, no credential. */
export class ProviderError extends Error {
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ProviderError';
    this.fault = fault;
  }
}

/** What changed in a repository. An undefined field says nothing. */
export interface Moved {
  /** One pull request. */
  number?: number;
  /** The pull requests with this commit as their head. */
  commitSha?: string;
  /** The pull requests from or to this branch. */
  branch?: string;
}

interface WebhookRepository {
  externalId: string;
  /** If empty, anything may have changed. */
  moved: Moved[];
}

export interface Provider {
  readonly capabilities: {
    /** Repositories, statuses, pull requests and comments are made and changed here. */
    hosts: boolean;
    mergeQueue: boolean;
  };
  /** The one spelling of an installation's address, or what is wrong with it, for a person. */
  baseUrlOf(
    given: string | undefined,
    allowPrivate: boolean,
  ): { baseUrl: string; fault?: never } | { fault: string };
  /** The website of an installation's repositories and issues; null if it has none. */
  siteOf(installation: InstallationRow): string | null;
  /** Tries the credential. Throws `access_denied` or `unavailable`. */
  verify(at: AtInstallation): Promise<{ accountLogin: string | null }>;
  /** Who makes the service's commits there; null: who the configuration names. */
  commitAuthor(at: AtInstallation): Promise<{ name: string; email: string } | null>;
  listRepositories(at: AtInstallation, signal: AbortSignal): AsyncIterable<ProviderRepository>;
  getRepository(at: AtRepository): Promise<ProviderRepository>;
  /** In the order of their names' bytes, behind `after`. */
  listBranches(
    at: AtRepository,
    page: { prefix: string; after: string | null; limit: number },
  ): Promise<ProviderBranch[]>;
  /** The commit of a branch, or of a full commit id; null where there is none. */
  resolveRef(at: AtRepository, ref: string): Promise<string | null>;
  /** Every entry of a commit's tree that is no folder; `truncated` where the provider does not tell all. */
  inspectTree(
    at: AtRepository,
    commitSha: string,
  ): Promise<{
    entries: { path: Buffer; mode: string; byteSize: number }[];
    truncated: boolean;
    usesLfs: boolean;
  }>;
  canPush(at: AtRepository): Promise<boolean>;
  /** `isRetry`: the last credential was refused; get a new one. */
  gitTransport(at: AtRepository, options?: { isRetry?: boolean }): Promise<GitTransport>;
  /** Pull requests from a branch of the repository, newest first. */
  findPullRequests(
    at: AtRepository,
    filter: { headRef: string; baseRef?: string; state: 'open' | 'all' },
  ): Promise<ProviderPullRequest[]>;
  createPullRequest(
    at: AtRepository,
    pull: { title: string; body: string; draft: boolean; headRef: string; baseRef: string; author: string },
  ): Promise<ProviderPullRequest>;
  getPullRequest(at: AtRepository, number: number): Promise<ProviderPullRequest>;
  updatePullRequest(
    at: AtRepository,
    number: number,
    change: { title?: string; body?: string; draft?: boolean; baseRef?: string; state?: 'open' | 'closed' },
  ): Promise<ProviderPullRequest>;
  /** Gives the pull request as it is then: merged, or open with `mergeQueued`. */
  mergePullRequest(
    at: AtRepository,
    number: number,
    how: { method: MergeMethod; title?: string; message?: string; expectedHeadSha?: string },
  ): Promise<ProviderPullRequest>;
  /** The newest of each name; null where the credential may not see them. */
  listChecks(at: AtRepository, commitSha: string): Promise<ProviderCheck[] | null>;
  /**
   * At most `maxBytes` from the end of a check's log, in whole characters; null if the log is gone or the
   * credential may not see it.
   */
  checkLog(at: AtRepository, logId: string, maxBytes: number): Promise<string | null>;
  /**
   * Review threads and the number of reviewers who ask for changes and have no unresolved thread; null where
   * the credential may not see them.
   */
  listReviewThreads(
    at: AtRepository,
    number: number,
  ): Promise<{ threads: ReviewThread[]; changesRequested: number } | null>;
  /** Not idempotent: check first whether the reply exists. */
  replyToThread(at: AtRepository, number: number, threadId: string, body: string): Promise<void>;
  /** The title of an issue of any repository that the installation sees; null where it sees none. */
  getIssue(
    at: AtInstallation,
    issue: { fullName: string; number: number },
  ): Promise<{ title: string } | null>;
  /** Whether the service commented on an issue with this text in it. */
  findComment(
    at: AtInstallation,
    issue: { fullName: string; number: number },
    text: string,
  ): Promise<boolean>;
  commentOnIssue(
    at: AtInstallation,
    issue: { fullName: string; number: number },
    body: string,
  ): Promise<void>;
  /** What a verified delivery says may have changed; null if it is irrelevant. */
  readWebhook(
    headers: Record<string, string | string[] | undefined>,
    body: Buffer,
  ): { repository: WebhookRepository | null; isInstallation: boolean } | null;
}
