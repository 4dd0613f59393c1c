/** What GitHub does that other providers do not, and what it does wrong. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { collectGarbage } from '../../garbage.fixture.ts';
import { fault, inClone } from '../provider-behaviour.fixture.ts';
import type { AtRepository } from '../provider.ts';
import { atInstallation, atRepository } from './at.fixture.ts';
import { githubProvider as provider } from './provider.ts';
import { ALL_PERMISSIONS, startGithubStandIn } from './stand-in.fixture.ts';
import type { LongLog } from './stand-in-logs.fixture.ts';
import type { GithubStandIn, StandInRepository } from './stand-in.fixture.ts';

let github: GithubStandIn;
let repository: StandInRepository;
let at: AtRepository & { states: unknown[] };
beforeAll(async () => {
  github = await startGithubStandIn();
});
afterAll(() => github.close());
beforeEach(async () => {
  repository = await github.makeRepository();
  at = by({ app: github.app });
});
afterEach(() => {
  github.trouble = null;
  github.instead = null;
  github.limitedUntil = 0;
  github.tokenSeconds = 3_600;
  github.permissions = { ...ALL_PERMISSIONS };
  github.isInstalled = true;
});

/** With a connection of its own. */
function by(credential: Parameters<typeof atInstallation>[1]) {
  const installation = atInstallation(github, credential);
  return { ...atRepository(installation, repository), states: installation.states };
}
const madeTokens = () => github.seen.filter(({ path }) => path.endsWith('/access_tokens')).length;
const openPull = async (headRef = 'work') => {
  await repository.commit(headRef, { [`${headRef}.txt`]: 'x\n' });
  const what = { title: 'T', body: '', draft: false, headRef, baseRef: 'main', author: 'A' };
  return provider.createPullRequest(at, what);
};

describe('credentials', () => {
  test('of an App are made once, and again before their end', async () => {
    const before = madeTokens();
    await Promise.all([provider.getRepository(at), provider.canPush(at), provider.resolveRef(at, 'main')]);
    await provider.getRepository(at);
    expect(madeTokens() - before).toBe(1);
    github.tokenSeconds = 0;
    const short = by({ app: github.app });
    github.instead = null;
    await fault(provider.getRepository(short));
    github.tokenSeconds = 3_600;
    await provider.getRepository(short);
  });

  test('that are refused are replaced once, for calls and for git', async () => {
    await provider.getRepository(at);
    const first = await provider.gitTransport(at);
    github.revoke();
    expect(await provider.resolveRef(at, 'main')).toBe(await repository.tip('main'));
    github.revoke();
    await inClone(async (git) => {
      await expect(git(['ls-remote', first.url], first.env)).rejects.toThrow(
        /401|Authentication|terminal prompts/,
      );
      const next = await provider.gitTransport(at, { isRetry: true });
      expect(await git(['ls-remote', next.url, 'refs/heads/main'], next.env)).toContain(
        await repository.tip('main'),
      );
    });
    expect(at.states).toEqual([]);
  });

  test('that stay refused are access_denied, after one more try', async () => {
    await provider.getRepository(at);
    const { tokens } = github;
    tokens.clear();
    const { set } = tokens;
    tokens.set = () => tokens;
    const before = github.seen.length;
    expect(await fault(provider.getRepository(at))).toEqual({ code: 'access_denied' });
    tokens.set = set;
    expect(github.seen.length - before).toBe(3);
    expect(at.states).toEqual([expect.objectContaining({ code: 'access_denied' })]);
    await provider.getRepository(at);
    expect(at.states.at(-1)).toBeNull();
  });

  test('of an App that is installed no more are access_denied', async () => {
    github.isInstalled = false;
    expect(await fault(provider.verify(at))).toEqual({ code: 'access_denied' });
  });

  test('of an App commit as its bot; a token as whom the configuration names', async () => {
    expect(await provider.commitAuthor(at)).toEqual({
      name: 'headrace-test[bot]',
      email: '4711+headrace-test[bot]@users.noreply.127.0.0.1',
    });
    github.tokens.set(github.token, { kind: 'user', expiresAt: Infinity, permissions: {} });
    expect(await provider.commitAuthor(by({ token: github.token }))).toBeNull();
  });
});

describe('permissions that an App lacks', () => {
  test('are named, and are no error of the installation', async () => {
    github.permissions = { ...ALL_PERMISSIONS, pull_requests: 'read' };
    expect(await fault(openPull())).toEqual({ code: 'access_denied', permission: 'pull_requests=write' });
    expect(at.states).toEqual([]);
  });

  test('for checks or comments leave these unknown', async () => {
    const { number, headSha } = await openPull();
    const { checks: _, pull_requests: __, ...rest } = ALL_PERMISSIONS;
    github.permissions = rest;
    const without = by({ app: github.app });
    expect(await provider.listChecks(without, headSha)).toBeNull();
    expect(await provider.listReviewThreads(without, number)).toBeNull();
  });

  test('to push are seen before a push', async () => {
    github.permissions = { ...ALL_PERMISSIONS, contents: 'read' };
    expect(await provider.canPush(at)).toBe(false);
  });
});

describe('pace', () => {
  test('reads ask whether anything changed, and get what is new', async () => {
    await provider.getRepository(at);
    await provider.getRepository(at);
    const asked = github.seen.findLast(({ path }) => path === `/api/v3/repos/${repository.fullName}`)!;
    expect([asked.status, asked.headers['if-none-match']]).toEqual([200, expect.stringMatching(/^W\//)]);
    repository.archived = true;
    expect(await provider.getRepository(at)).toMatchObject({ archived: true });
  });

  test('writes of an installation are one at a time', async () => {
    for (const branch of ['a', 'b', 'c', 'd']) await repository.commit(branch, { [branch]: 'x' });
    const before = github.seen.length;
    await Promise.all(['a', 'b', 'c', 'd'].map((branch) => openPull(branch)));
    const writes = github.seen
      .slice(before)
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/pulls'));
    expect(writes).toHaveLength(4);
    expect(
      writes.filter(({ rivals }) => rivals.some((one) => one.startsWith('POST') && one.endsWith('/pulls'))),
    ).toEqual([]);
  });

  test('a limited rate is unavailable until it is over, and nothing is asked meanwhile', async () => {
    await provider.getRepository(at);
    github.limitedUntil = Date.now() + 60_000;
    expect(await fault(provider.resolveRef(at, 'main'))).toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: expect.any(Number),
    });
    const before = github.seen.length;
    expect(await fault(provider.getRepository(at))).toMatchObject({ code: 'unavailable' });
    expect(github.seen.length).toBe(before);
    expect(at.states).toEqual([]);
  });

  test('a secondary limit with Retry-After is kept', async () => {
    github.instead = () => ({
      status: 429,
      body: { message: 'You have exceeded a secondary rate limit.' },
      headers: { 'retry-after': '77' },
    });
    const token = by({ token: github.token });
    expect(await fault(provider.getRepository(token))).toEqual({
      code: 'unavailable',
      retryAfterSeconds: 77,
    });
  });
});

describe('repositories that move', () => {
  test('a renamed one is reached by the redirect, reads and writes, and by git under its new name', async () => {
    github.rename(repository, `${repository.name}-new`);
    expect(await provider.getRepository(at)).toMatchObject({ fullName: repository.fullName });
    expect((await openPull()).state).toBe('open');
    await inClone(async (git) => {
      const old = await provider.gitTransport(at);
      await expect(git(['ls-remote', old.url], old.env)).rejects.toThrow();
      const found = await provider.gitTransport(at, { isRetry: true });
      expect(found.url).toBe(`${github.origin}/${repository.fullName}.git`);
      await git(['ls-remote', found.url], found.env);
    });
  });

  test('one whose name another one has is gone, and so is one that was deleted', async () => {
    github.rename(repository, `${repository.name}-moved`);
    const rival = await github.makeRepository({ name: at.repository.name });
    await rival.commit('work', { 'w.txt': 'w\n' });
    expect(await fault(provider.getRepository(at))).toEqual({ code: 'gone' });
    expect(await fault(provider.getPullRequest(at, 1))).toEqual({ code: 'gone' });
    github.remove(rival);
    github.remove(repository);
    expect(await fault(provider.resolveRef(at, 'main'))).toEqual({ code: 'gone' });
    expect(await fault(provider.listChecks(at, '0'.repeat(40)))).toEqual({ code: 'gone' });
  });

  test('no credential follows a redirect to another origin', async () => {
    const origin = github.origin.replace('127.0.0.1', 'localhost');
    github.instead = ({ path }) =>
      path.includes('/repos/') ? { status: 301, headers: { location: `${origin}${path}` } } : undefined;
    const before = github.seen.length;
    expect(await fault(provider.getRepository(at))).toMatchObject({ code: 'unavailable' });
    const hosts = github.seen.slice(before).map(({ headers }) => headers.host);
    expect(hosts.filter((host) => host?.startsWith('localhost'))).toEqual([]);
  });
});

describe('trouble', () => {
  test('a read that fails once is tried again; a write is not', async () => {
    await repository.commit('work', { 'w.txt': 'w\n' });
    await provider.getRepository(at);
    let left = 1;
    github.trouble = ({ method }) => (method === 'GET' && left-- > 0 ? 'cut' : undefined);
    expect(await provider.getRepository(at)).toBeTruthy();
    github.trouble = ({ method }) => (method === 'POST' ? '502 after' : undefined);
    expect(await fault(openPull())).toMatchObject({ code: 'unavailable' });
    github.trouble = null;
    const found = await provider.findPullRequests(at, { headRef: 'work', state: 'all' });
    expect(found).toHaveLength(1);
    expect(at.states).toEqual([expect.objectContaining({ code: 'unreachable' }), null]);
  });

  test('answers that are no JSON, or make no sense, are unavailable', async () => {
    const { number } = await openPull();
    const answers = ['<html>', '"text"', 'null', '[]', '{}', '{"number": -1, "base": {"repo": {}}}'];
    for (const raw of answers) {
      github.instead = ({ path }) => (path.endsWith(`/pulls/${number}`) ? { raw } : undefined);
      const code = (await fault(provider.getPullRequest(at, number))) as { code: string };
      expect([raw, ['unavailable', 'gone'].includes(code.code)]).toEqual([raw, true]);
    }
  });

  test('a text with characters that the database refuses is cleaned', async () => {
    const { number } = await openPull();
    repository.pulls.at(-1)!.title = 'a\u0000b\ud800';
    expect((await provider.getPullRequest(at, number)).title).toBe('a\u{fffd}b\u{fffd}');
  });
});

describe('merging', () => {
  test('refusals are told apart by what GitHub says', async () => {
    const { number } = await openPull();
    for (const [message, reason] of [
      ['Pull Request is still a draft', 'draft'],
      ['Required status check "ci" is expected.', 'checks'],
      ['2 of 3 required status checks have not succeeded: 1 expected.', 'checks'],
      ['At least 1 approving review is required by reviewers with write access.', 'review_required'],
      ['Waiting on code owner review from acme/core.', 'review_required'],
      ['Rebase merges are not allowed on this repository.', 'method'],
      ["This branch can't be rebased", 'method'],
      ['Merge commits are not allowed on this repository.', 'method'],
      ['You’re not authorized to push to this branch.', 'protected'],
      ['Repository rule violations found\n\nCannot update this protected ref.', 'protected'],
    ]) {
      github.instead = ({ path }) =>
        path.endsWith('/merge') ? { status: 405, body: { message } } : undefined;
      const refused = await fault(provider.mergePullRequest(at, number, { method: 'merge' }));
      expect([message, refused]).toEqual([message, { code: 'merge_refused', reason }]);
    }
  });

  test('where the branch has a queue, it is queued, and seen there', async () => {
    const { number } = await openPull();
    // For some time, the branch is assumed to have none.
    expect(await provider.getPullRequest(at, number)).toMatchObject({ mergeQueued: false });
    repository.queues.add('main');
    const queued = await provider.mergePullRequest(at, number, { method: 'squash' });
    expect(queued).toMatchObject({ state: 'open', mergeQueued: true });
    expect(await provider.getPullRequest(at, number)).toMatchObject({ state: 'open', mergeQueued: true });
    const again = await provider.mergePullRequest(at, number, { method: 'squash' });
    expect(again).toMatchObject({ state: 'open', mergeQueued: true });
  });
});

describe('checks and reviews', () => {
  test('states of checks are three', async () => {
    const sha = (await repository.tip('main'))!;
    for (const [status, conclusion, state] of [
      ['completed', 'success', 'succeeded'],
      ['completed', 'neutral', 'succeeded'],
      ['completed', 'skipped', 'succeeded'],
      ['completed', 'failure', 'failing'],
      ['completed', 'cancelled', 'failing'],
      ['completed', 'timed_out', 'failing'],
      ['completed', 'action_required', 'failing'],
      ['completed', 'startup_failure', 'failing'],
      ['completed', 'stale', 'running'],
      ['queued', null, 'running'],
      ['in_progress', null, 'running'],
      ['waiting', null, 'running'],
      ['requested', null, 'running'],
      ['pending', null, 'running'],
    ] as const) {
      repository.checks = [{ id: 1, sha, name: 'one', status, conclusion }];
      const [check] = (await provider.listChecks(at, sha))!;
      expect([status, conclusion, check?.state]).toEqual([status, conclusion, state]);
    }
  });

  test('a run that GitHub Actions does not have shows its own text as its log', async () => {
    const sha = (await repository.tip('main'))!;
    repository.checks = [
      { id: 9, sha, name: 'ci', status: 'completed', conclusion: 'failure', text: 'why it failed' },
    ];
    const [check] = (await provider.listChecks(at, sha))!;
    expect(await provider.checkLog(at, check!.logId!, 6)).toBe('failed');
  });

  describe('of a long log', () => {
    const of = (log: Partial<LongLog>) => {
      const long = { size: 100 * 1024 * 1024, end: 'the end', knowsParts: true, sent: 0, ...log };
      repository.logs.set(7, long);
      return long;
    };

    test('only the end is requested', async () => {
      const log = of({});
      expect(await provider.checkLog(at, 'job:7', 10)).toBe('...the end');
      expect(log.sent).toBeLessThan(10 * 1024 * 1024);
    });

    test('only the end is kept if the host sends all of it, and the process is not blocked', async () => {
      const log = of({ knowsParts: false, size: 200 * 1024 * 1024 });
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      let looks = 0;
      let next = 0;
      const watch = setInterval(() => {
        looks += 1;
        if (log.sent < next) return;
        next = log.sent + log.size / 10;
        // What counts is what is kept, not when garbage is collected.
        collectGarbage();
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }, 1);
      expect(await provider.checkLog(at, 'job:7', 8_192)).toMatch(/^\.+the end$/);
      clearInterval(watch);
      expect(log.sent).toBe(log.size - log.end.length);
      expect(most).toBeLessThan(log.size / 2);
      expect(looks).toBeGreaterThan(5);
    });

    test('that is gone, hidden or unreachable nothing is returned; if GitHub is unavailable, that is a fault', async () => {
      expect(await provider.checkLog(at, 'job:8', 10)).toBeNull();
      of({});
      github.trouble = ({ path }) => (path.startsWith('/logs/') ? '502' : undefined);
      expect(await provider.checkLog(at, 'job:7', 10)).toBeNull();
      github.trouble = null;
      delete github.permissions['actions'];
      expect(await provider.checkLog(by({ app: github.app }), 'job:7', 10)).toBeNull();
      github.trouble = () => '502';
      expect(await fault(provider.checkLog(at, 'job:7', 10))).toMatchObject({ code: 'unavailable' });
    });
  });

  test('reviewers who ask for changes count unless they have an open thread', async () => {
    const { number } = await openPull();
    const pull = repository.pulls.at(-1)!;
    const changes = (author: string) => ({ author, state: 'CHANGES_REQUESTED' });
    pull.reviews = [
      changes('grace'),
      changes('alan'),
      changes('barbara'),
      { author: 'barbara', state: 'APPROVED' },
      changes('headrace-test[bot]'),
    ];
    const comment = {
      id: 'C',
      author: 'grace',
      association: 'NONE',
      body: 'Why?',
      createdAt: '2026-01-01T00:00:00Z',
    };
    pull.threads = Array.from({ length: 130 }, (_, index) => ({
      id: `T${index}`,
      isResolved: index > 0,
      path: null,
      line: null,
      comments: [comment],
    }));
    const found = (await provider.listReviewThreads(at, number))!;
    expect([found.changesRequested, found.threads.length]).toEqual([1, 130]);
    expect(found.threads[0]!.comments[0]).toMatchObject({ canWrite: false, isOwn: false });
    // If the comments of the first page have the maximum length, no further page is read.
    comment.body = 'x'.repeat(65_536);
    for (const thread of pull.threads) thread.comments = [comment, comment, comment];
    expect((await provider.listReviewThreads(at, number))!.threads).toHaveLength(100);
  });
});

test('what is not there is named: a commit, a pull request', async () => {
  const none = '0'.repeat(40);
  const notFound = (what: string) => ({ code: 'not_found', what });
  expect(await fault(provider.getPullRequest(at, 99))).toEqual(notFound('pull_request'));
  expect(await fault(provider.inspectTree(at, none))).toEqual(notFound('commit'));
  expect(await fault(provider.listChecks(at, none))).toEqual(notFound('commit'));
});

describe('issues', () => {
  test('are read, and commented on once where one looks first', async () => {
    repository.issues.set(5, { title: 'Broken', comments: [] });
    const issue = { fullName: repository.fullName, number: 5 };
    expect(await provider.getIssue(at, issue)).toEqual({ title: 'Broken' });
    expect(await provider.getIssue(at, { ...issue, number: 6 })).toBeNull();
    expect(await provider.getIssue(at, { fullName: 'nobody/nothing', number: 1 })).toBeNull();
    repository.issues.get(5)!.comments.push({ id: 1, author: 'someone', body: 'http://there' });
    expect(await provider.findComment(at, issue, 'http://there')).toBe(false);
    await provider.commentOnIssue(at, issue, 'See http://there');
    expect(await provider.findComment(at, issue, 'http://there')).toBe(true);
  });
});
