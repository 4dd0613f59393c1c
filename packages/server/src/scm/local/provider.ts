/**
 * The provider `local`: repositories that this service hosts. Its folders follow from its rows
 * (repository-folder.ts), and what a branch has is read from git itself.
 */
import { listTree } from '../../git/list-tree.ts';
import { listBranches, resolveCommit } from '../../git/read.ts';
import { runGit } from '../../git/run-git.ts';
import { publicUrl } from '../../http/public-url.ts';
import { ProviderError } from '../provider.ts';
import type { AtRepository, Provider, ProviderRepository } from '../provider.ts';
import { checkLog, listChecks, listReviewThreads, replyToThread } from './checks.ts';
import { mergePull } from './merge-pull.ts';
import { createPull, findPulls, getPull, updatePull } from './pull-requests.ts';
import { shownPull } from './pull-rows.ts';
import { openLocalFolder } from './repository-folder.ts';

/** Entries of a tree that are looked at. */
const MAX_ENTRIES = 500_000;
/** Bytes of `.gitattributes` that are looked at. */
const MAX_ATTRIBUTES = 1024 * 1024;

const folderOf = ({ ctx, repository }: AtRepository): Promise<string> =>
  openLocalFolder(ctx.config, repository);

/** Whether the root's `.gitattributes` hands files to LFS. */
async function usesLfs(
  folder: string,
  entries: readonly { path: Buffer; object: string; byteSize: number }[],
) {
  const attributes = entries.find(({ path }) => path.equals(Buffer.from('.gitattributes')));
  if (!attributes || attributes.byteSize > MAX_ATTRIBUTES) return false;
  const { output } = await runGit(folder, ['cat-file', 'blob', attributes.object]);
  return output.includes('filter=lfs');
}

export const localProvider: Provider = {
  capabilities: { hosts: true, mergeQueue: false },
  baseUrlOf: () => ({ fault: 'is of other providers' }),
  siteOf: () => null,
  async verify() {
    return { accountLogin: null };
  },
  async commitAuthor() {
    return null;
  },
  async *listRepositories({ ctx, installation }) {
    const rows = await ctx.db
      .selectFrom('repositories')
      .selectAll()
      .where('installation_id', '=', installation.id)
      .where('deleted_at', 'is', null)
      .execute();
    for (const repository of rows) yield shown({ ctx, installation, repository });
  },
  async getRepository(at) {
    return shown(at);
  },
  async listBranches(at, { prefix, after, limit }) {
    const branches = (await listBranches(await folderOf(at))).filter(({ name }) => name.startsWith(prefix));
    const from =
      after === null
        ? 0
        : branches.findIndex(({ name }) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
    if (from === -1) return [];
    return branches.slice(from, from + limit).map((branch) => {
      const isDefault = branch.name === at.repository.default_branch;
      return { ...branch, isDefault, protected: isDefault };
    });
  },
  async resolveRef(at, ref) {
    return resolveCommit(await folderOf(at), ref);
  },
  async inspectTree(at, commitSha) {
    const folder = await folderOf(at);
    const { entries, truncated } = await listTree(folder, commitSha, MAX_ENTRIES).catch(
      async (error: unknown) => {
        if ((await resolveCommit(folder, commitSha)) !== null) throw error;
        throw new ProviderError({ code: 'not_found', what: 'commit' }, 'the repository has no such commit');
      },
    );
    return { entries, truncated, usesLfs: await usesLfs(folder, entries) };
  },
  async canPush({ repository }) {
    return !repository.archived;
  },
  async gitTransport(at) {
    const folder = await folderOf(at);
    return { url: folder, env: {}, folder };
  },
  async findPullRequests(at, filter) {
    return (await findPulls(at, filter)).map((row) => shownPull(at, row));
  },
  async createPullRequest(at, pull) {
    return shownPull(at, await createPull(at, pull));
  },
  async getPullRequest(at, number) {
    return shownPull(at, await getPull(at, number));
  },
  async updatePullRequest(at, number, change) {
    return shownPull(at, await updatePull(at, number, change));
  },
  async mergePullRequest(at, number, how) {
    return shownPull(at, await mergePull(at, number, how));
  },
  listChecks,
  checkLog,
  listReviewThreads,
  replyToThread,
  /** There are no issues here. */
  async getIssue() {
    return null;
  },
  async findComment() {
    return false;
  },
  async commentOnIssue() {
    throw new ProviderError({ code: 'unsupported' }, 'the built-in provider has no issues');
  },
  readWebhook() {
    return null;
  },
};

function shown({ ctx, repository: r }: AtRepository): ProviderRepository {
  return {
    externalId: r.external_id,
    fullName: r.full_name,
    name: r.name,
    private: r.private,
    archived: r.archived,
    defaultBranch: r.default_branch,
    url: `${publicUrl(ctx)}/api/source-control/scm/repositories/${r.id}`,
    cloneUrl: `${publicUrl(ctx)}/git/${r.name}.git`,
    mergeMethods: r.merge_methods,
  };
}
