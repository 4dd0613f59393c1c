/** Repositories, branches and trees at GitHub. What it says is checked before it is used as a name. */
import { clean } from '../../db/clean-text.ts';
import { isBranchName, isCommitId } from '../../git/ref-names.ts';
import type { MergeMethod } from '../../db/schema.ts';
import { ProviderError } from '../provider.ts';
import type { AtInstallation, AtRepository, ProviderBranch, ProviderRepository } from '../provider.ts';
import { ask, askRepository } from './ask.ts';
import type { Connection } from './connection.ts';
import { faultOf, missing, senseless, statusOf } from './faults.ts';

const PAGE = 100;
/** Pages of a list that are read at most. */
const MAX_PAGES = 1_000;
const MAX_BRANCH_PAGES = 10;

interface GithubRepository {
  id: number;
  full_name: string;
  name: string;
  private?: boolean;
  archived?: boolean;
  default_branch?: string;
  allow_merge_commit?: boolean;
  allow_squash_merge?: boolean;
  allow_rebase_merge?: boolean;
}

/** A text of somebody else's as the database takes it. */
export const plainText = (text: unknown): string => (typeof text === 'string' ? clean(text) : '');

/** Null for one whose names cannot be names. */
export function repositoryOf(site: string, found: GithubRepository): ProviderRepository | null {
  const { id, full_name: fullName, default_branch: defaultBranch = 'main' } = found;
  const [owner, name, ...rest] = fullName.split('/');
  if (!Number.isSafeInteger(id) || !isName(owner) || !isName(name) || rest.length > 0) return null;
  if (!isBranchName(defaultBranch)) return null;
  return {
    externalId: String(id),
    fullName,
    name: name!,
    private: found.private !== false,
    archived: found.archived === true,
    defaultBranch,
    url: `${site}/${fullName}`,
    cloneUrl: `${site}/${fullName}.git`,
    ...mergeMethodsOf(found),
  };
}

const isName = (text: string | undefined): boolean =>
  text !== undefined && /^[A-Za-z0-9._-]{1,100}$/.test(text) && !/^\.+$/.test(text);

function mergeMethodsOf(found: GithubRepository): { mergeMethods?: MergeMethod[] } {
  if (found.allow_merge_commit === undefined) return {};
  const allowed: [MergeMethod, boolean | undefined][] = [
    ['merge', found.allow_merge_commit],
    ['squash', found.allow_squash_merge],
    ['rebase', found.allow_rebase_merge],
  ];
  return { mergeMethods: allowed.filter(([, isAllowed]) => isAllowed).map(([method]) => method) };
}

export async function* listRepositories(
  at: AtInstallation,
  signal: AbortSignal,
): AsyncIterable<ProviderRepository> {
  for (let page = 1; page <= MAX_PAGES; page++) {
    signal.throwIfAborted();
    const found = await ask(at, (connection) => pageOf(connection, page, signal));
    for (const one of found.repositories) if (one) yield one;
    if (found.isLast) return;
  }
}

async function pageOf({ octokit, tokens, site }: Connection, page: number, signal: AbortSignal) {
  const limits = { per_page: PAGE, page, request: { signal } };
  const found: GithubRepository[] = tokens.isOfApp
    ? (await octokit.rest.apps.listReposAccessibleToInstallation(limits)).data.repositories
    : (await octokit.rest.repos.listForAuthenticatedUser(limits)).data;
  if (!Array.isArray(found)) throw senseless('no list of repositories');
  return { repositories: found.map((one) => repositoryOf(site, one)), isLast: found.length < PAGE };
}

export const getRepository = (at: AtRepository): Promise<ProviderRepository> =>
  askRepository(at, async (connection, place) => readRepository(at, connection, place));

async function readRepository(
  { repository }: AtRepository,
  { octokit, site }: Connection,
  place: { owner: string; repo: string },
): Promise<ProviderRepository> {
  const { data } = await octokit.rest.repos.get(place);
  // Another one may have taken its name.
  if (String(data.id) !== repository.external_id)
    throw new ProviderError({ code: 'gone' }, 'another repository has the name');
  const found = repositoryOf(site, data);
  if (!found) throw senseless('names of a repository');
  return found;
}

export const canPush = (at: AtRepository): Promise<boolean> =>
  askRepository(at, async ({ octokit, tokens }, place) => {
    const { data } = await octokit.rest.repos.get(place);
    const { permissions } = await tokens.get();
    return (
      !data.archived && (permissions ? permissions['contents'] === 'write' : data.permissions?.push === true)
    );
  });

/** GitHub gives all branches with a prefix in one answer, and knows which are protected in another. */
export const listBranches = (
  at: AtRepository,
  { prefix, after, limit }: { prefix: string; after: string | null; limit: number },
): Promise<ProviderBranch[]> =>
  askRepository(at, async ({ octokit }, place) => {
    const { data } = await octokit.rest.git
      .listMatchingRefs({ ...place, ref: `heads/${prefix}` })
      .catch(emptyIs({ data: [] }));
    const page = data
      .map(({ ref, object }) => ({ name: ref.replace(/^refs\/heads\//, ''), commitSha: object.sha }))
      .filter(({ name, commitSha }) => isBranchName(name) && isCommitId(commitSha) && name.startsWith(prefix))
      .toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
      .filter(({ name }) => after === null || Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0)
      .slice(0, limit);
    const isProtected = page.length ? await protectedBranches(octokit, place) : new Set<string>();
    return page.map((branch) => ({
      ...branch,
      isDefault: branch.name === at.repository.default_branch,
      protected: isProtected.has(branch.name),
    }));
  });

async function protectedBranches(
  octokit: Connection['octokit'],
  place: { owner: string; repo: string },
): Promise<Set<string>> {
  const names = new Set<string>();
  for (let page = 1; page <= MAX_BRANCH_PAGES; page++) {
    const { data } = await octokit.rest.repos.listBranches({
      ...place,
      protected: true,
      per_page: PAGE,
      page,
    });
    for (const { name } of data) names.add(name);
    if (data.length < PAGE) break;
  }
  return names;
}

export const resolveRef = (at: AtRepository, ref: string): Promise<string | null> =>
  askRepository(at, async ({ octokit }, place) => {
    const sha = isCommitId(ref)
      ? octokit.rest.git.getCommit({ ...place, commit_sha: ref }).then(({ data }) => data.sha)
      : octokit.rest.git.getRef({ ...place, ref: `heads/${ref}` }).then(({ data }) => data.object.sha);
    const found = await sha.catch(emptyIs(null));
    if (found !== null && !isCommitId(found)) throw senseless('a commit id');
    return found;
  }).catch(notFoundIs(null));

export const inspectTree = (at: AtRepository, commitSha: string) =>
  askRepository(at, async ({ octokit }, place) => {
    const { data } = await octokit.rest.git
      .getTree({ ...place, tree_sha: commitSha, recursive: 'true' })
      .catch(missing('commit'));
    const entries = data.tree.filter(({ type }) => type !== 'tree');
    const attributes = entries.find(({ path, type }) => path === '.gitattributes' && type === 'blob');
    return {
      entries: entries.map(({ path, mode, size }) => ({
        path: Buffer.from(path),
        mode,
        byteSize: Number.isSafeInteger(size) ? size! : 0,
      })),
      truncated: data.truncated,
      usesLfs: attributes ? /\bfilter=lfs\b/.test(await readBlob(octokit, place, attributes.sha)) : false,
    };
  });

async function readBlob(
  octokit: Connection['octokit'],
  place: { owner: string; repo: string },
  sha: string,
): Promise<string> {
  const { data } = await octokit.rest.git.getBlob({ ...place, file_sha: sha });
  return Buffer.from(data.content, 'base64').toString('utf8');
}

/** 409: a repository without a commit has no git database yet. */
const emptyIs =
  <T>(answer: T) =>
  (error: unknown): T => {
    if (statusOf(error) === 409) return answer;
    throw error;
  };

/** For questions whose answer may be none; a commit id that git refuses is 422. */
const notFoundIs =
  <T>(answer: T) =>
  (error: unknown): T => {
    const { code } = faultOf(error).fault;
    if (code === 'not_found' || code === 'unsupported') return answer;
    throw error;
  };
