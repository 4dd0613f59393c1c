/** What the pages of repositories show, made as people make it: over the API, and by pushes. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Installation, Repository } from '@headrace/client';
import { startGithubStandIn } from '../../../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { GithubStandIn } from '../../../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { Site } from '../../ground.ts';

const INSTALLATIONS = '/api/source-control/scm/installations';
const LIMIT_MS = 20_000;

const run = promisify(execFile);

const cookieOf = ({ state }: Site) =>
  state.cookies.map((cookie) => `${cookie.name}=${cookie.value}`).join('; ');

/** What only a session may, and what this client asks of apps alone. */
export async function asOwner<T>(
  site: Site,
  method: string,
  path: string,
  body?: object,
): Promise<T & { error?: { code: string } }> {
  const response = await fetch(site.base + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      origin: site.base,
      cookie: cookieOf(site),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T & { error?: { code: string } };
}

/** Of the webhooks of the Apps that are connected here. */
export const WEBHOOK_SECRET = 'a secret of the tests';

export async function connectApp(site: Site, github: GithubStandIn, name = 'Acme'): Promise<Installation> {
  const { installation } = await asOwner<{ installation: Installation }>(site, 'POST', INSTALLATIONS, {
    provider: 'github',
    name,
    baseUrl: github.baseUrl,
    app: github.app,
    webhookSecret: WEBHOOK_SECRET,
  });
  return untilInstallation(site, installation.id, ({ syncedAt }) => syncedAt !== null);
}

async function connectToken(site: Site, github: GithubStandIn, name: string): Promise<Installation> {
  const { installation } = await asOwner<{ installation: Installation }>(site, 'POST', INSTALLATIONS, {
    provider: 'github',
    name,
    baseUrl: github.baseUrl,
    token: github.token,
  });
  return untilInstallation(site, installation.id, ({ syncedAt }) => syncedAt !== null);
}

export async function untilInstallation(
  { client }: Site,
  id: string,
  isDone: (now: Installation) => boolean,
): Promise<Installation> {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(50)) {
    const now = await client.scm.getInstallation(id);
    if (isDone(now)) return now;
  }
  throw new Error(`The installation ${id} is never as it should be.`);
}

export const README = '# Site\n\nA page about plants.\n';

export const makeRepository = ({ client }: Site, name: string): Promise<Repository> =>
  client.scm
    .createRepository({
      name,
      files: [
        { path: 'README.md', content: README },
        { path: 'src/page.ts', content: 'export const title = "Plants";\n' },
      ],
    })
    .then((repository) => repository);

/** Pushes a branch with this change, a new one from the default branch; returns its commit. */
export async function push(
  site: Site,
  repository: Repository,
  { branch, path, content }: { branch: string; path: string; content: string },
): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-push-'));
  const password = decodeURIComponent(site.state.cookies[0]!.value);
  const basic = Buffer.from(`owner:${password}`).toString('base64');
  const git = (...args: string[]) =>
    run('git', args, {
      cwd: scratch,
      timeout: LIMIT_MS,
      env: {
        PATH: process.env['PATH'],
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_TERMINAL_PROMPT: '0',
        GIT_AUTHOR_NAME: 'Ada',
        GIT_AUTHOR_EMAIL: 'ada@example.test',
        GIT_COMMITTER_NAME: 'Ada',
        GIT_COMMITTER_EMAIL: 'ada@example.test',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'http.extraHeader',
        GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
      },
    });
  try {
    await git('clone', '--quiet', `${site.base}/git/${repository.name}.git`, '.');
    await git('checkout', '--quiet', branch).catch(() => git('checkout', '--quiet', '-B', branch));
    writeFileSync(join(scratch, path), content);
    await git('add', '--all');
    await git('commit', '--quiet', '-m', `Change ${path}`);
    await git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
    return (await git('rev-parse', 'HEAD')).stdout.trim();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A repository with a pushed branch and a pull request for it, without checks. */
export async function pullOf(site: Site, name: string): Promise<{ repository: Repository; number: number }> {
  const repository = await makeRepository(site, name);
  await push(site, repository, { branch: 'fix-page', path: 'src/page.ts', content: 'export {};\n' });
  const { number } = await site.client.scm.createPullRequest(repository.id, {
    title: 'Fix the page',
    headRef: 'fix-page',
  });
  return { repository, number };
}

export interface Repositories {
  hosted: Repository;
  empty: Repository;
  /** At the stand-in of GitHub, which is away by now. */
  github: Repository;
  app: Installation;
  /** Its token is refused. */
  broken: Installation;
  /** Of the hosted one. */
  pull: number;
  conflicting: number;
}

export async function makeRepositories(site: Site): Promise<Repositories> {
  const { client } = site;
  const [hosted, empty, connected] = await Promise.all([
    makeRepository(site, 'site'),
    client.scm.createRepository({ name: 'empty' }),
    connections(site),
  ]);
  await client.projects.create({ name: 'Garden', repositoryId: hosted.id });
  const fix = await push(site, hosted, {
    branch: 'fix-page',
    path: 'src/page.ts',
    content: 'export const title = "All plants";\n',
  });
  await push(site, hosted, { branch: 'other-title', path: 'README.md', content: '# Other\n' });
  const { number: conflicting } = await client.scm.createPullRequest(hosted.id, {
    title: 'Another title for the page, which nobody has asked for and which is rather long',
    headRef: 'other-title',
    draft: true,
  });
  await push(site, hosted, { branch: 'main', path: 'README.md', content: '# Our site\n' });
  await client.scm.updateRepository(hosted.id, { requiredChecks: ['ci', 'links'] });
  const { number: pull } = await client.scm.createPullRequest(hosted.id, {
    title: 'Show all plants',
    headRef: 'fix-page',
    body: 'The title said too little.\n\nCloses #4',
  });
  await client.scm.createStatus(hosted.id, fix, { context: 'ci', state: 'pending' });
  await client.scm.createStatus(hosted.id, fix, {
    context: 'ci',
    state: 'failure',
    description: 'One test of 41 fails: the title is empty in the menu',
    targetUrl: 'https://ci.example.test/runs/41',
    log: 'not ok 12 - the menu has a title\n',
  });
  await client.scm.createStatus(hosted.id, fix, { context: 'lint', state: 'success' });
  const comment = await client.scm.createComment(hosted.id, pull, {
    body: 'Is this text in the translations, too?',
    path: 'src/page.ts',
    line: 1,
  });
  await client.scm.createComment(hosted.id, pull, { body: 'Not yet.', inReplyTo: comment.id });
  const done = await client.scm.createComment(hosted.id, pull, { body: 'Thanks for the quick fix.' });
  await client.scm.updateComment(hosted.id, pull, done.id, { resolved: true });
  return { hosted, empty, ...connected, pull, conflicting };
}

async function connections(site: Site): Promise<Pick<Repositories, 'github' | 'app' | 'broken'>> {
  const standIn = await startGithubStandIn();
  try {
    await standIn.makeRepository({ name: 'shop' });
    const app = await connectApp(site, standIn);
    const token = await connectToken(site, standIn, 'Old token');
    standIn.tokens.delete(standIn.token);
    await site.client.scm.syncInstallation(token.id);
    const broken = await untilInstallation(site, token.id, ({ status }) => status === 'error');
    const { items } = await site.client.scm.listRepositories({ installationId: app.id });
    return { github: items[0]!, app, broken };
  } finally {
    await standIn.close();
  }
}
