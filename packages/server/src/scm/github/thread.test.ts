/**
 * A thread's way to a merged pull request at GitHub, and where the credentials are meanwhile: in requests to
 * GitHub and sealed in the database, nowhere else.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { sql } from 'kysely';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, signedIn } from '../../accounts/callers.fixture.ts';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { startGithubStandIn } from './stand-in.fixture.ts';
import type { GithubStandIn, StandInRepository } from './stand-in.fixture.ts';

const SCM = '/api/source-control/scm';
const SECRET = 'a webhook secret of ours';
let s: TestServer;
let github: GithubStandIn;
let repository: StandInRepository;
let said = '';
/** Command lines of git while it waits for GitHub. */
const commands = new Set<string>();

beforeAll(async () => {
  const log = pino(
    { level: 'trace' },
    new Writable({
      write(chunk: Buffer, _, done) {
        said += chunk.toString('utf8');
        done();
      },
    }),
  );
  s = await startTestServer({ HEADRACE_SCM_ALLOW_PRIVATE: '1' }, undefined, log);
  github = await startGithubStandIn();
  repository = await github.makeRepository({
    name: 'site',
    files: { 'README.md': '# Site\n', 'a.txt': 'a\n' },
  });
  github.trouble = ({ path }) => {
    if (!path.startsWith('/api/')) for (const line of gitCommands()) commands.add(line);
    return undefined;
  };
});
afterAll(async () => {
  await s?.close();
  await github?.close();
});

function gitCommands(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => /(^|\/)git/.test(line));
}

/** What may be nowhere: each token, as git sends it too, the private key, the webhook secret. */
const secrets = (): string[] => [
  ...[...github.tokens.keys(), github.token].flatMap((token) => [
    token,
    Buffer.from(`x-access-token:${token}`).toString('base64'),
  ]),
  github.app.privateKey.split('\n')[5]!,
  SECRET,
];

const answers: string[] = [];
async function call(method: string, path: string, body?: unknown) {
  const answer = await s.call(method, path, body);
  answers.push(answer.text);
  return answer;
}

test('a thread on a branch becomes a merged pull request', async () => {
  const cookie = await signedIn(s);
  const connected = await s.call(
    'POST',
    `${SCM}/installations`,
    { provider: 'github', name: 'Stand-in', baseUrl: github.baseUrl, app: github.app, webhookSecret: SECRET },
    { cookie },
  );
  expectStatus(connected, 201);
  const named = await expect
    .poll(async () => (await call('GET', `${SCM}/repositories?query=acme`)).body.repositories, {
      timeout: 10_000,
    })
    .toMatchObject([{ fullName: 'acme/site' }])
    .then(async () => (await call('GET', `${SCM}/repositories?query=acme`)).body.repositories[0]);
  const { inspection } = (await call('GET', `${SCM}/repositories/${named.id}/inspect`)).body;
  expect(inspection).toMatchObject({ commitSha: await repository.tip('main'), fileCount: 2, canPush: true });
  const project = (await call('POST', '/api/projects', { name: 'Site', repositoryId: named.id })).body
    .project;
  const made = expectStatus(await call('POST', '/api/threads', { projectId: project.id }), 201).body.thread;
  const read = async () => (await call('GET', `/api/threads/${made.id}`)).body.thread;
  await expect.poll(async () => (await read()).latestSourceId, { timeout: 30_000 }).not.toBeNull();
  const thread = await read();
  expect(thread.baseCommitSha).toBe(await repository.tip('main'));
  const edit = { expectedSourceId: thread.latestSourceId, changes: [{ path: 'b.txt', content: 'b\n' }] };
  expectStatus(await call('POST', `/api/threads/${made.id}/edits`, edit), 201);
  const pull = expectStatus(
    await call('POST', `/api/threads/${made.id}/pull-requests`, { title: 'Add b' }),
    201,
  );
  const [known] = repository.pulls;
  expect(pull.body.pullRequest).toMatchObject({
    number: known!.number,
    url: `${github.origin}/acme/site/pull/${known!.number}`,
    headSha: await repository.tip(known!.headRef),
    repoFullName: 'acme/site',
  });
  expect(await repository.git('show', `${known!.headRef}:b.txt`)).toBe('b');
  const path = `/api/threads/${made.id}/pull-requests/${pull.body.pullRequest.id}/merge`;
  const merged = expectStatus(await call('POST', path, { method: 'squash' }), 200).body.pullRequest;
  expect(merged).toMatchObject({ state: 'merged', mergeCommitSha: await repository.tip('main') });
  expect(github.faults).toEqual([]);
  // A call that fails is logged.
  github.trouble = () => '502';
  expectStatus(await call('POST', `${SCM}/installations/${connected.body.installation.id}/sync`), 202);
  await expect.poll(() => said, { timeout: 10_000 }).toContain('could not be read');
});

describe('no credential', () => {
  const found = (text: string) => secrets().filter((secret) => text.includes(secret));

  test('is in an answer, or in the log', () => {
    expect(answers.length).toBeGreaterThan(5);
    expect(answers.flatMap(found)).toEqual([]);
    expect(found(said)).toEqual([]);
  });

  test('is in a command line of git', () => {
    const lines = [...commands];
    expect(lines.filter((line) => line.includes('acme/site.git'))).not.toEqual([]);
    expect(lines.flatMap(found)).toEqual([]);
  });

  test('is in the database: receipts, events, audit, jobs and all else', async () => {
    const { db } = s.service.ctx;
    const { rows: tables } = await sql<{ name: string }>`
      select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(
      db,
    );
    expect(tables.length).toBeGreaterThan(40);
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.raw(name)} t`.execute(db);
      expect([name, rows.flatMap(({ row }) => found(row))]).toEqual([name, []]);
    }
  });

  test('is in the data folder: configuration of repositories, workspaces, journals', () => {
    const folder = s.service.ctx.config.dataDir;
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    );
    const texts = files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
    expect(texts.some((file) => file.endsWith('.git/config'))).toBe(true);
    expect(texts.filter((file) => found(readFileSync(file, 'latin1')).length > 0)).toEqual([]);
  });
});
