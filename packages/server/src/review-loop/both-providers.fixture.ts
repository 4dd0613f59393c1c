/**
 * Pull requests with review loops in one service, at the built-in provider and at GitHub's stand-in, and the actions of
 * others there. Every action at GitHub sends a delivery, as GitHub does.
 */
import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { runGit } from '../git/run-git.ts';
import { startGithubStandIn } from '../scm/github/stand-in.fixture.ts';
import type { GithubStandIn, StandInRepository } from '../scm/github/stand-in.fixture.ts';
import { commitFiles } from '../git/git.fixture.ts';
import { openRepository } from '../scm/index.ts';
import { lookSoon } from '../scm/look-soon.ts';
import { transaction } from '../db/transaction.ts';
import { ProviderError } from '../scm/provider.ts';
import type { AtRepository, MergeRefusal, Provider } from '../scm/provider.ts';
import { githubProvider } from '../scm/github/provider.ts';
import { localProvider } from '../scm/local/provider.ts';
import { localFolder } from '../scm/local/folders.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { BREAKS } from '../sync/sync.fixture.ts';
import type { Break } from '../sync/sync.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

type Body = TestAnswer['body'];
type Json = Record<string, unknown>;

const SCM = '/api/source-control/scm';
const SECRET = 'a webhook secret';
const FILES = { 'a.txt': 'one\n' };

type State = 'pending' | 'success' | 'failure';

/** A repository at a provider. */
interface Side {
  provider: Provider;
  repositoryId: string;
  git(...args: string[]): Promise<string>;
  status(sha: string, state: State, check: { name?: string; log?: string }): Promise<void>;
  /** Opens a review thread as a person with write access. Returns its id. */
  comment(number: number, body: string): Promise<string>;
  resolve(number: number, threadId: string): Promise<void>;
  /** Pushes a commit to a branch. */
  push(branch: string, files: Record<string, string>): Promise<string>;
  allowMethods(methods: ('merge' | 'squash' | 'rebase')[]): Promise<void>;
}

export const PROVIDERS = ['the built-in provider', 'GitHub'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface World {
  s: TestServer;
  github: GithubStandIn;
  cookie: string;
  open(name: ProviderName, asked?: Asked): Promise<Looped>;
  close(): Promise<void>;
}

interface Asked {
  files?: Record<string, string>;
  /** The project's loop settings. */
  settings?: Json;
  metadata?: Record<string, string>;
  /** Fields of the new pull request. */
  pull?: Json;
}

export type Looped = Awaited<ReturnType<typeof openLooped>>;

/** `repositories`: the number of GitHub repositories that tests may open. */
export async function startWorld(repositories: number): Promise<World> {
  const s = await startTestServer({
    HEADRACE_SCM_ALLOW_PRIVATE: '1',
    HEADRACE_REVIEW_CHECK_GRACE_SECONDS: '600',
  });
  divertCalls();
  const github = await startGithubStandIn();
  for (let n = 0; n < repositories; n++) await github.makeRepository({ name: `site-${n}`, files: FILES });
  const cookie = await signedIn(s);
  const installation = {
    provider: 'github',
    name: 'Stand-in',
    baseUrl: github.baseUrl,
    app: github.app,
    webhookSecret: SECRET,
  };
  const made = await ok(s.call('POST', `${SCM}/installations`, installation, { cookie }));
  const hook = `${s.base}${SCM}/webhooks/${made.installation.id as string}`;
  const found = async () =>
    (await ok(s.call('GET', `${SCM}/repositories?query=acme&limit=100`))).repositories as Body[];
  await until('the repositories are known', async () => (await found()).length === repositories);
  const free = await found();
  const side = async (name: ProviderName) => {
    if (name === 'the built-in provider') return localSide(s);
    const { id, fullName } = free.pop()!;
    const repository = github.repositories.find((one) => one.fullName === fullName)!;
    return githubSide(github, { id, repository, hook });
  };
  return {
    s,
    github,
    cookie,
    open: async (name, asked = {}) => openLooped(s, await side(name), asked),
    async close() {
      vi.restoreAllMocks();
      await s.close();
      await github.close();
    },
  };
}

async function localSide(s: TestServer): Promise<Side> {
  const files = Object.entries(FILES).map(([path, content]) => ({ path, content }));
  const { repository } = await ok(
    s.call('POST', `${SCM}/repositories`, { name: `r-${randomUUID()}`, files }),
  );
  const at = `${SCM}/repositories/${repository.id as string}`;
  const { repository: row } = await atOf(s, repository.id);
  const folder = localFolder(s.service.ctx.config, repository.id);
  const git = async (...args: string[]) => (await runGit(folder, args)).output.toString('utf8').trim();
  return {
    provider: localProvider,
    repositoryId: repository.id,
    git,
    async status(sha, state, { name: context = 'ci', log }) {
      await ok(s.call('POST', `${at}/commits/${sha}/statuses`, { context, state, ...(log ? { log } : {}) }));
    },
    async comment(number, body) {
      const made = await ok(
        s.call('POST', `${at}/pull-requests/${number}/comments`, { body, path: 'a.txt', line: 1 }),
      );
      return made.comment.id;
    },
    async resolve(number, id) {
      await ok(s.call('PATCH', `${at}/pull-requests/${number}/comments/${id}`, { resolved: true }));
    },
    async push(branch, changes) {
      const before = (await git('ls-tree', '-r', '--name-only', branch)).split('\n');
      const kept = before.filter((path) => !(path in changes));
      const rest = await Promise.all(
        kept.map(async (path) => [path, `${await git('show', `${branch}:${path}`)}\n`] as const),
      );
      const all = [...rest, ...Object.entries(changes)].map(([path, content]) => ({ path, content }));
      const sha = await commitFiles(folder, branch, all, 'By another');
      await transaction(s.service.ctx, (tx) => lookSoon(tx, row));
      return sha;
    },
    async allowMethods(mergeMethods) {
      await ok(s.call('PATCH', at, { mergeMethods }));
    },
  };
}

function githubSide(
  github: GithubStandIn,
  { id, repository, hook }: { id: string; repository: StandInRepository; hook: string },
): Side {
  const deliver = async (event: string, payload: Json) => {
    const all = { ...payload, repository: { id: repository.id } };
    await github.deliver(hook, { secret: SECRET, event, payload: all });
  };
  const pullOf = (number: number) => repository.pulls.find((one) => one.number === number)!;
  return {
    provider: githubProvider,
    repositoryId: id,
    git: (...args) => repository.git(...args),
    async status(sha, state, { name = 'ci', log }) {
      const check = repository.checks.length + 1;
      const [status, conclusion] = state === 'pending' ? ['in_progress', null] : ['completed', state];
      repository.checks.push({ id: check, sha, name, status, conclusion, app: 'github-actions' });
      if (log) repository.logs.set(check, log);
      await deliver('check_run', { check_run: { head_sha: sha, pull_requests: [] } });
    },
    async comment(number, body) {
      const { threads } = pullOf(number);
      const thread = `PRRT_${repository.id}_${threads.length}`;
      const said = { id: `${thread}-1`, author: 'grace', association: 'MEMBER', body };
      const comments = [{ ...said, createdAt: new Date().toISOString() }];
      threads.push({ id: thread, isResolved: false, path: 'a.txt', line: 1, comments });
      await deliver('pull_request_review_comment', { pull_request: { number } });
      return thread;
    },
    async resolve(number, thread) {
      pullOf(number).threads.find((one) => one.id === thread)!.isResolved = true;
      await deliver('pull_request_review_thread', { pull_request: { number } });
    },
    async push(branch, files) {
      const sha = await repository.commit(branch, files);
      await deliver('push', { ref: `refs/heads/${branch}` });
      return sha;
    },
    async allowMethods(methods) {
      repository.mergeMethods = new Set(methods);
    },
  };
}

/** A thread with one change in the repository, and its pull request with an enabled loop. */
async function openLooped(
  s: TestServer,
  side: Side,
  { files = { 'b.txt': 'new\n' }, settings = {}, metadata = {}, pull = {} }: Asked,
) {
  const bound = { name: 'Garden', repositoryId: side.repositoryId, metadata };
  const { project } = await ok(s.call('POST', '/api/projects', bound));
  await ok(s.call('PATCH', `/api/projects/${project.id as string}/settings`, { reviewLoop: settings }));
  const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id, title: 'Fix it' }));
  const at = `/api/threads/${thread.id as string}`;
  const threadNow = async (): Promise<Body> => (await ok(s.call('GET', at))).thread;
  await until('the thread is prepared', async () => (await threadNow()).initializationState === 'completed');
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
  const { latestSourceId: expectedSourceId } = await threadNow();
  await ok(s.call('POST', `${at}/edits`, { expectedSourceId, changes }));
  const asked = { ...pull, reviewLoop: { enabled: true, ...(pull['reviewLoop'] as Json) } };
  const made: Body = (await ok(s.call('POST', `${at}/pull-requests`, asked))).pullRequest;
  const path = `${at}/pull-requests/${made.id as string}`;
  const now = async (): Promise<Body> => (await ok(s.call('GET', path))).pullRequest;
  const { number } = made as { number: number };
  const looped = {
    id: made.id as string,
    number,
    first: made.headSha as string,
    path,
    threadId: thread.id as string,
    git: side.git,
    now,
    threadNow,
    /** Waits until the pull request has these fields. */
    async shows(fields: Json): Promise<Body> {
      await vi.waitFor(async () => expect(await now()).toMatchObject(fields), {
        timeout: 60_000,
        interval: 50,
      });
      return now();
    },
    status: async (state: State, check = {}) => side.status((await now()).headSha, state, check),
    comment: (body: string) => side.comment(number, body),
    resolve: (threadId: string) => side.resolve(number, threadId),
    push: side.push,
    allowMethods: side.allowMethods,
    sync: () => ok(s.call('POST', `${path}/sync`, {})),
    /** The service's replies to a review thread. */
    async replies(threadId: string): Promise<string[]> {
      const found = await side.provider.listReviewThreads(await atOf(s, side.repositoryId), number);
      const comments = found?.threads.find(({ id }) => id === threadId)?.comments ?? [];
      return comments.filter(({ isOwn }) => isOwn).map(({ body }) => body);
    },
    /** The system messages to the agent, one for each pass. */
    async passes(): Promise<Body[]> {
      const { messages } = await ok(s.call('GET', `${at}/messages?limit=100`));
      return (messages as Body[]).filter(({ role }) => role === 'system');
    },
    /** The merges in the audit log, with their actors. */
    async merges(cookie: string): Promise<unknown[]> {
      const { entries } = await ok(s.call('GET', '/api/audit?limit=200', undefined, { cookie }));
      return (entries as Body[])
        .filter(({ action, targetId }) => action === 'pull_request.merged' && targetId === made.id)
        .map(({ actorId }) => actorId);
    },
    breakNext: (method: Method, how: Break) => breakNext(side, method, how),
    /** Returns how often the provider was asked to merge. */
    refuseMerges(reason: MergeRefusal): () => number {
      let count = 0;
      ways.set(keyOf(side.repositoryId, 'mergePullRequest'), async () => {
        count++;
        throw new ProviderError({ code: 'merge_refused', reason }, 'refused');
      });
      return () => count;
    },
    /** Changes of the pull request wait until `release` is called. */
    holdChanges(): { release: () => void; begun: Promise<void> } {
      const [gate, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      ways.set(keyOf(side.repositoryId, 'updatePullRequest'), async (call) => {
        begun.resolve();
        await gate.promise;
        return call();
      });
      return { release: gate.resolve, begun: begun.promise };
    },
    hideChecks: () => void ways.set(keyOf(side.repositoryId, 'listChecks'), async () => null),
  };
  return looped;
}

async function atOf({ service: { ctx } }: TestServer, repositoryId: string): Promise<AtRepository> {
  return (await openRepository(ctx, repositoryId)).at;
}

export const BREAK_NAMES = Object.keys(BREAKS) as Break[];

const METHODS = ['mergePullRequest', 'updatePullRequest', 'replyToThread', 'listChecks'] as const;
type Method = (typeof METHODS)[number];
type AnyCall = (at: AtRepository, ...args: unknown[]) => Promise<unknown>;

type Way = (call: () => Promise<unknown>) => Promise<unknown>;

/** Failures of a provider's calls for each repository: tests run in parallel. */
const ways = new Map<string, Way>();
const keyOf = (repositoryId: string, method: Method) => `${repositoryId} ${method}`;

function divertCalls(): void {
  for (const provider of [localProvider, githubProvider])
    for (const method of METHODS) {
      const original = provider[method] as unknown as AnyCall;
      const diverted: AnyCall = (at, ...args) => {
        const call = () => original.call(provider, at, ...args);
        const way = ways.get(keyOf(at.repository.id, method));
        return way ? way(call) : call();
      };
      vi.spyOn(provider, method).mockImplementation(diverted as never);
    }
}

/** Makes the next call for the repository fail in this way. */
function breakNext({ repositoryId }: Side, method: Method, how: Break): void {
  const key = keyOf(repositoryId, method);
  ways.set(key, (call) => {
    ways.delete(key);
    return BREAKS[how](call);
  });
}
