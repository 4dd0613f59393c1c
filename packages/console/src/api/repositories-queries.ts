/** What pages read of source control. No event tells of it: it is read again when it is shown. */
import type { Installation } from '@headrace/client';
import { client } from './client.ts';
import { many, one } from './query.ts';

const FRESH = { staleTime: 0 };
/** While something shown is under way. */
const SOON_MS = 1_500;
/** What others may do while a page is open: a push, a report, a comment. */
const WATCHED_MS = 10_000;

export const INSTALLATIONS = ['installations'];
export const REPOSITORIES = ['repositories'];

/** Whether its repositories have never been read and nothing says why. */
export const isFirstRead = ({ managedBy, syncedAt, status }: Installation): boolean =>
  managedBy !== 'service' && syncedAt === null && status === 'connected';

export const installationsQuery = () => ({
  ...one(INSTALLATIONS, null, (options) => client.scm.listInstallations({ ...options, limit: 200 })),
  ...FRESH,
  refetchInterval: ({ state: { data } }: { state: { data: { items: Installation[] } | undefined } }) =>
    (data?.items ?? []).some(isFirstRead) && SOON_MS,
});

/** `isAwaited`: a sync or a first delivery is under way. */
export const installationQuery = (
  installationId: string,
  isAwaited: (now: Installation) => boolean = isFirstRead,
) => ({
  ...one([...INSTALLATIONS, installationId], null, (options) =>
    client.scm.getInstallation(installationId, options),
  ),
  ...FRESH,
  refetchInterval: ({ state: { data } }: { state: { data: Installation | undefined } }) =>
    data !== undefined && isAwaited(data) && SOON_MS,
});

export const repositoriesQuery = (filter: { query?: string; installationId?: string } = {}) => ({
  ...many([...REPOSITORIES, filter], null, (options) =>
    client.scm.listRepositories({ ...options, ...filter }),
  ),
  ...FRESH,
});

/** Projects, to say which of them use a repository: all at once, not one read for each repository. */
export const boundProjectsQuery = () => ({
  ...one(['projects', 'bound'], null, (options) => client.projects.list({ ...options, limit: 200 })),
  ...FRESH,
});

const of = (repositoryId: string, ...parts: unknown[]) => ['repository', repositoryId, ...parts];

export const repositoryQuery = (repositoryId: string) => ({
  ...one(of(repositoryId), null, (options) => client.scm.getRepository(repositoryId, options)),
  ...FRESH,
});

/** Live from the host. `query`: what a name begins with. */
export const branchesQuery = (repositoryId: string, query = '') => ({
  ...many(of(repositoryId, 'branches', query), null, (options) =>
    client.scm.listBranches(repositoryId, { ...options, ...(query && { query }) }),
  ),
  ...FRESH,
});

export const inspectionQuery = (repositoryId: string, ref: string) => ({
  ...one(of(repositoryId, 'inspection', ref), null, (options) =>
    client.scm.inspectRepository(repositoryId, { ...options, ref }),
  ),
  ...FRESH,
});

/** `latest`: of each context only the newest, which counts. */
export const statusesQuery = (repositoryId: string, commitSha: string, latest = true) => ({
  ...many(
    of(repositoryId, 'statuses', commitSha, latest),
    null,
    (options) => client.scm.listStatuses(repositoryId, commitSha, { ...options, latest }),
    // All contexts of nearly every commit: which one is missing is known only of all.
    latest ? 200 : undefined,
  ),
  ...FRESH,
  refetchInterval: WATCHED_MS,
});

export const pullsQuery = (repositoryId: string, state?: 'open' | 'closed' | 'merged') => ({
  ...one(of(repositoryId, 'pulls', state), null, (options) =>
    client.scm.listPullRequests(repositoryId, { ...options, ...(state && { state }), limit: 200 }),
  ),
  ...FRESH,
});

export const pullQuery = (repositoryId: string, number: string) => ({
  ...one(of(repositoryId, 'pull', number), null, (options) =>
    client.scm.getPullRequest(repositoryId, number, options),
  ),
  ...FRESH,
  refetchInterval: WATCHED_MS,
});

/** Oldest first. */
export const commentsQuery = (repositoryId: string, number: string) => ({
  ...many(of(repositoryId, 'comments', number), null, (options) =>
    client.scm.listComments(repositoryId, number, { ...options, limit: 200 }),
  ),
  ...FRESH,
  refetchInterval: WATCHED_MS,
});

/** Of everything that is read of one repository. */
export const repositoryKey = (repositoryId: string) => of(repositoryId);

/** A thread by its id alone: this page's client asks for it without the app that is named. */
export const threadOfPullQuery = (threadId: string) =>
  one(['thread of a pull request', threadId], { types: ['thread.'], threadId }, (options) =>
    client.threads.get('-', threadId, options),
  );
