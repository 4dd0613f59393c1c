/** What every provider does alike: run against each of them, with a real repository behind it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBareRepository } from '../git/bare-repository.ts';
import { runGit } from '../git/run-git.ts';
import { ProviderError } from './provider.ts';
import type { AtRepository, Provider } from './provider.ts';

/** A repository at the provider, and what others do to it there. */
export interface Subject {
  provider: Provider;
  at: AtRepository;
  /** A commit of these files on a branch, which begins at the default branch; null removes a file. */
  commit(branch: string, files: Record<string, string | null>): Promise<string>;
  tip(branch: string): Promise<string | null>;
  report(
    sha: string,
    check: { name: string; state: 'pending' | 'success' | 'failure'; log?: string },
  ): Promise<void>;
  requireCheck(name: string | null): Promise<void>;
  allowMethods(methods: ('merge' | 'squash' | 'rebase')[]): Promise<void>;
  /** A review thread by somebody who may write. */
  review(number: number, body: string): Promise<void>;
}

const UNKNOWN = '0123456789abcdef0123456789abcdef01234567';

export const fault = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no fault',
    (error: unknown) => (error instanceof ProviderError ? error.fault : error),
  );

let lastBranch = 0;

export function behavesAsProvider(
  name: string,
  open: () => Promise<Subject & { close(): Promise<void> }>,
): void {
  describe(`${name}: as any provider`, () => {
    let s: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      s = await open();
    });
    afterAll(() => s.close());

    /** A pull request of a new branch with one commit. */
    async function openPull(more: { draft?: boolean; files?: Record<string, string> } = {}) {
      const headRef = `work-${++lastBranch}`;
      const headSha = await s.commit(headRef, more.files ?? { [`${headRef}.txt`]: 'work\n' });
      const pull = await s.provider.createPullRequest(s.at, {
        title: `Add ${headRef}`,
        body: 'Because.',
        draft: more.draft ?? false,
        headRef,
        baseRef: 'main',
        author: 'Headrace',
      });
      return { ...pull, headRef, headSha };
    }
    const merge = (number: number, how: Partial<Parameters<Provider['mergePullRequest']>[2]> = {}) =>
      s.provider.mergePullRequest(s.at, number, { method: 'merge', ...how });

    test('the repository is read by itself, and the credential is good', async () => {
      const found = await s.provider.getRepository(s.at);
      expect(found).toMatchObject({
        externalId: s.at.repository.external_id,
        defaultBranch: 'main',
        archived: false,
      });
      expect(found.mergeMethods).toEqual(['merge', 'squash', 'rebase']);
      await s.provider.verify(s.at);
      expect(await s.provider.canPush(s.at)).toBe(true);
    });

    test('branches are listed by the bytes of their names, page by page, with a prefix', async () => {
      const tip = await s.commit('list/b', { 'b.txt': 'b\n' });
      for (const branch of ['list/a', 'list/Z', 'list/b-1', 'list/é'])
        await s.commit(branch, { [branch]: 'x\n' });
      const page = (after: string | null, limit: number) =>
        s.provider.listBranches(s.at, { prefix: 'list/', after, limit });
      const all = await page(null, 50);
      expect(all.map((branch) => branch.name)).toEqual(['list/Z', 'list/a', 'list/b', 'list/b-1', 'list/é']);
      expect(all[2]).toMatchObject({ commitSha: tip, isDefault: false });
      expect((await page('list/a', 2)).map((branch) => branch.name)).toEqual(['list/b', 'list/b-1']);
      const mains = await s.provider.listBranches(s.at, { prefix: 'mai', after: null, limit: 10 });
      expect(mains).toMatchObject([{ name: 'main', isDefault: true }]);
      expect(await page('list/é', 10)).toEqual([]);
    });

    test('a branch and a commit are resolved; what is not there is null', async () => {
      const tip = await s.commit('resolve', { 'r.txt': 'r\n' });
      const resolve = (ref: string) => s.provider.resolveRef(s.at, ref);
      expect([await resolve('resolve'), await resolve(tip)]).toEqual([tip, tip]);
      expect([await resolve('nowhere'), await resolve('res'), await resolve(UNKNOWN)]).toEqual([
        null,
        null,
        null,
      ]);
    });

    test("a commit's tree is listed with modes and sizes", async () => {
      const sha = await s.commit('tree', { 'dir/ü.txt': 'four', '.gitattributes': '*.bin filter=lfs\n' });
      const { entries, truncated, usesLfs } = await s.provider.inspectTree(s.at, sha);
      expect([truncated, usesLfs]).toEqual([false, true]);
      expect(entries.map(({ path, mode, byteSize }) => [path.toString(), mode, byteSize])).toContainEqual([
        'dir/ü.txt',
        '100644',
        4,
      ]);
      expect(entries.every(({ mode }) => mode !== '040000')).toBe(true);
      expect(await fault(s.provider.inspectTree(s.at, UNKNOWN))).toMatchObject({ code: 'not_found' });
    });

    test('a pull request is made, found by its branch, read and changed', async () => {
      const pull = await openPull({ draft: true });
      expect(pull).toMatchObject({
        state: 'open',
        draft: true,
        body: 'Because.',
        isOwnHead: true,
        baseRef: 'main',
      });
      expect(pull.url).toMatch(/^https?:/);
      const found = await s.provider.findPullRequests(s.at, { headRef: pull.headRef, state: 'open' });
      expect(found.map(({ number, headSha }) => [number, headSha])).toEqual([[pull.number, pull.headSha]]);
      await s.commit('other-base', { 'o.txt': 'o\n' });
      const changed = await s.provider.updatePullRequest(s.at, pull.number, {
        title: 'Other',
        body: '',
        draft: false,
        baseRef: 'other-base',
      });
      expect(changed).toMatchObject({ title: 'Other', body: '', draft: false, baseRef: 'other-base' });
      const pushed = await s.commit(pull.headRef, { 'more.txt': 'more\n' });
      expect(await s.provider.getPullRequest(s.at, pull.number)).toMatchObject({
        title: 'Other',
        headSha: pushed,
        mergeQueued: false,
      });
      expect(await fault(s.provider.getPullRequest(s.at, 999_999))).toMatchObject({ code: 'not_found' });
    });

    test('a closed pull request is found among all, and opened again', async () => {
      const { number, headRef } = await openPull();
      await s.provider.updatePullRequest(s.at, number, { state: 'closed' });
      const find = (state: 'open' | 'all') =>
        s.provider.findPullRequests(s.at, { headRef, baseRef: 'main', state });
      expect([(await find('open')).length, (await find('all'))[0]]).toMatchObject([
        0,
        { number, state: 'closed' },
      ]);
      expect(await fault(merge(number))).toMatchObject({ code: 'not_open' });
      await s.provider.updatePullRequest(s.at, number, { state: 'open' });
      expect(await find('open')).toMatchObject([{ number, state: 'open' }]);
    });

    test('a pull request of the same branches, of no commits, or of branches that are not there is refused', async () => {
      const { headRef } = await openPull();
      const create = (refs: { headRef: string; baseRef: string }) =>
        fault(
          s.provider.createPullRequest(s.at, { ...refs, title: 'T', body: '', draft: false, author: 'A' }),
        );
      expect(await create({ headRef, baseRef: 'main' })).toMatchObject({ code: 'exists' });
      await s.commit('base-of-none', { 'x.txt': 'x\n' });
      expect(await create({ headRef: 'main', baseRef: 'base-of-none' })).toMatchObject({
        code: 'no_changes',
      });
      expect(await create({ headRef, baseRef: 'nowhere' })).toMatchObject({ code: 'not_found' });
      expect(await create({ headRef: 'nowhere', baseRef: 'main' })).toMatchObject({ code: 'not_found' });
    });

    test.each(['merge', 'squash', 'rebase'] as const)('%s merges', async (method) => {
      const { number, headRef } = await openPull();
      const before = await s.tip('main');
      const merged = await merge(number, { method, title: 'Merged here', message: 'With words.' });
      expect(merged).toMatchObject({ state: 'merged', mergeCommitSha: await s.tip('main') });
      expect(merged.mergedAt).toMatch(/Z$/);
      expect(await s.tip('main')).not.toBe(before);
      const { entries } = await s.provider.inspectTree(s.at, (await s.tip('main'))!);
      expect(entries.map(({ path }) => path.toString())).toContain(`${headRef}.txt`);
      expect(await s.provider.getPullRequest(s.at, number)).toMatchObject({ state: 'merged' });
      expect(await fault(merge(number))).toMatchObject({ code: 'not_open' });
    });

    test('a draft, a conflict, a missing check, a method that is not allowed and a head that moved are refused', async () => {
      const refusal = async (number: number, how = {}) => fault(merge(number, how));
      const draft = await openPull({ draft: true });
      expect(await refusal(draft.number)).toEqual({ code: 'merge_refused', reason: 'draft' });

      const file = `conflict-${++lastBranch}.txt`;
      const conflict = await openPull({ files: { [file]: 'theirs\n' } });
      await s.commit('main', { [file]: 'ours\n' });
      expect(await s.provider.getPullRequest(s.at, conflict.number)).toMatchObject({
        mergeable: 'conflicting',
      });
      expect(await refusal(conflict.number)).toEqual({ code: 'merge_refused', reason: 'conflicting' });

      const moved = await openPull();
      const headSha = await s.commit(moved.headRef, { 'later.txt': 'later\n' });
      const how = { expectedHeadSha: moved.headSha };
      expect(await refusal(moved.number, how)).toEqual({ code: 'head_moved', headSha });

      await s.allowMethods(['squash']);
      expect(await refusal(moved.number)).toEqual({ code: 'merge_refused', reason: 'method' });
      await s.allowMethods(['merge', 'squash', 'rebase']);

      await s.requireCheck('ci');
      expect(await refusal(moved.number)).toEqual({ code: 'merge_refused', reason: 'checks' });
      await s.report(headSha, { name: 'ci', state: 'success' });
      expect(await merge(moved.number)).toMatchObject({ state: 'merged' });
      await s.requireCheck(null);
    });

    test('a pull request whose head reached the base by a push is merged', async () => {
      const pull = await openPull();
      const base = await s.commit('pushed-base', { 'base.txt': 'base\n' });
      await s.provider.updatePullRequest(s.at, pull.number, { baseRef: 'pushed-base' });
      const { url, env, folder } = await s.provider.gitTransport(s.at);
      await inClone(async (git) => {
        const place = folder ?? url;
        await git(['fetch', '--quiet', place, base, pull.headSha], env);
        const tree = await git(['merge-tree', '--write-tree', base, pull.headSha]);
        const sha = await git(['commit-tree', tree, '-p', base, '-p', pull.headSha, '-m', 'By hand']);
        await git(['push', '--quiet', place, `${sha}:refs/heads/pushed-base`], env);
      });
      await expect
        .poll(() => s.provider.getPullRequest(s.at, pull.number), { timeout: 10_000 })
        .toMatchObject({ state: 'merged' });
    });

    test('checks are the newest of their name', async () => {
      const sha = await s.commit('checked', { 'c.txt': 'c\n' });
      expect(await s.provider.listChecks(s.at, sha)).toEqual([]);
      await s.report(sha, { name: 'unit', state: 'failure', log: 'first\nlast line\n' });
      await s.report(sha, { name: 'lint', state: 'failure' });
      await s.report(sha, { name: 'lint', state: 'success' });
      await s.report(sha, { name: 'slow', state: 'pending' });
      const checks = (await s.provider.listChecks(s.at, sha))!;
      expect(Object.fromEntries(checks.map(({ name: check, state }) => [check, state]))).toEqual({
        unit: 'failing',
        lint: 'succeeded',
        slow: 'running',
      });
      const { logId } = checks.find((check) => check.name === 'unit')!;
      expect(await s.provider.checkLog(s.at, logId!, 10)).toBe('last line\n');
    });

    test('review threads are listed and answered', async () => {
      const { number } = await openPull();
      expect(await s.provider.listReviewThreads(s.at, number)).toEqual({ threads: [], changesRequested: 0 });
      await s.review(number, 'Name this better.');
      const [thread] = (await s.provider.listReviewThreads(s.at, number))!.threads;
      expect(thread).toMatchObject({
        isResolved: false,
        comments: [{ body: 'Name this better.', isOwn: false, canWrite: true }],
      });
      await s.provider.replyToThread(s.at, number, thread!.id, 'Addressed.');
      const answers = async () =>
        (await s.provider.listReviewThreads(s.at, number))!.threads[0]!.comments.map(({ body, isOwn }) => [
          body,
          isOwn,
        ]);
      expect(await answers()).toEqual([
        ['Name this better.', false],
        ['Addressed.', true],
      ]);
      for (let n = 1; n <= 50; n++) await s.provider.replyToThread(s.at, number, thread!.id, `Word ${n}.`);
      const many = await answers();
      expect([many[0], many.at(-1)]).toEqual([
        ['Name this better.', false],
        ['Word 50.', true],
      ]);
      expect(await fault(s.provider.replyToThread(s.at, number, 'nowhere', 'Hello.'))).toMatchObject({
        code: 'not_found',
      });
    });

    test('git fetches and pushes; the credential is in no argument', async () => {
      const { url, env, folder } = await s.provider.gitTransport(s.at);
      const tip = await s.tip('main');
      await inClone(async (git) => {
        const place = folder ?? url;
        await git(['fetch', '--quiet', '--depth=1', place, '+refs/heads/main:refs/heads/main'], env);
        expect(await git(['rev-parse', 'refs/heads/main'])).toBe(tip);
        const tree = await git(['rev-parse', 'main^{tree}']);
        const sha = await git(['commit-tree', tree, '-p', 'main', '-m', 'Pushed']);
        await git(['push', '--quiet', place, `${sha}:refs/heads/pushed`], env);
        expect(await s.tip('pushed')).toBe(sha);
      });
    });
  });
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.test',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.test',
};

/** git in an empty repository of its own, with the environment that a transport gives. */
export async function inClone(
  work: (git: (args: string[], env?: Record<string, string>) => Promise<string>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-clone-'));
  try {
    await createBareRepository(join(folder, 'clone.git'), { defaultBranch: 'unborn' });
    await work(async (args, env = {}) => {
      const { output } = await runGit(join(folder, 'clone.git'), args, { env: { ...AUTHOR, ...env } });
      return output.toString('utf8').trim();
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
