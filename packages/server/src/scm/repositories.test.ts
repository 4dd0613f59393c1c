import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { commitFiles } from '../git/git.fixture.ts';
import { runGit } from '../git/run-git.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { localFolder } from './local/folders.ts';

const SCM = '/api/source-control/scm';
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

const name = () => `r-${randomUUID()}`;
const create = (body: Record<string, unknown>, idem?: string) =>
  s.call('POST', `${SCM}/repositories`, { name: name(), ...body }, idem ? { idem } : {});
const folderOf = (id: string) => localFolder(s.service.ctx.config, id);
const git = async (id: string, ...args: string[]) =>
  (await runGit(folderOf(id), args)).output.toString('utf8');

describe('201', () => {
  test('with files there is one commit of the service with just these bytes and modes', async () => {
    const { status, body } = await create({
      defaultBranch: 'release/2.x',
      message: 'Begin\n\n<here>',
      files: [
        { path: 'a.txt', content: 'one\r\n' },
        { path: 'bin/run', content: '', executable: true },
        { path: 'sub/logo', content: 'iVAA/w==', encoding: 'base64' },
      ],
    });
    expect([status, body.repository]).toEqual([
      201,
      expect.objectContaining({
        provider: 'local',
        defaultBranch: 'release/2.x',
        url: `${s.base}${SCM}/repositories/${body.repository.id}`,
        cloneUrl: `${s.base}/git/${body.repository.name}.git`,
      }),
    ]);
    const { id } = body.repository;
    expect(await git(id, 'log', '--format=%an <%ae> %cn <%ce> %P%n%B', 'release/2.x')).toBe(
      'Headrace <headrace@localhost> Headrace <headrace@localhost> \nBegin\n\n<here>\n\n',
    );
    expect(
      await git(id, 'ls-tree', '-r', '-z', '--format=%(objectmode) %(objectsize) %(path)', 'release/2.x'),
    ).toBe('100644 5 a.txt\x00100755 0 bin/run\x00100644 4 sub/logo\0');
  });

  test('a repeated creation is its first answer, with one repository', async () => {
    const idem = randomUUID();
    const first = await create({ name: name(), files: [] }, idem);
    const again = await s.call(
      'POST',
      `${SCM}/repositories`,
      { name: first.body.repository.name, files: [] },
      { idem },
    );
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('400', () => {
  test.each([
    ['..', '/name'],
    ['a.git', '/name'],
    ['a.lock', '/name'],
    ['a/b', '/name'],
    ['A', '/name'],
    ['a\n', '/name'],
  ])('the name %j', async (given, path) => {
    const { status, body } = await create({ name: given, defaultBranch: 'a..b' });
    expect([status, body.error.fields.map((f: { path: string }) => f.path)]).toEqual([
      400,
      [path, '/defaultBranch'],
    ]);
  });

  test('every file that breaks a rule is named, and nothing is made', async () => {
    const folders = readdirSync(join(s.service.ctx.config.dataDir, 'repositories'));
    const { status, body } = await create({
      files: [
        { path: '../up', content: '' },
        { path: '.git/config', content: '' },
        { path: 'a', content: '-', encoding: 'base64' },
      ],
    });
    expect([status, body.error.code, body.error.fields.map((f: { path: string }) => f.path)]).toEqual([
      400,
      'invalid_bundle',
      ['/files/0/path', '/files/1/path', '/files/2/content'],
    ]);
    expect(readdirSync(join(s.service.ctx.config.dataDir, 'repositories'))).toEqual(folders);
  });
});

test('404 for another organization, and for a key whose projects have no such repository', async () => {
  const { id } = (await create({})).body.repository;
  const them = await tenant(s);
  const { key } = await newAccount(s, them.cookie);
  const unknown = await s.call('GET', `${SCM}/repositories/repo_01k9x3v5e8f7arh2m4t6w8y0zb`);
  const seen = await s.call('GET', `${SCM}/repositories/${id}`, undefined, { key });
  expect([seen.status, seen.body.error.code, seen.body.error.message]).toEqual([
    404,
    'repository_not_found',
    unknown.body.error.message,
  ]);
  const project = (await s.call('POST', '/api/projects', { name: 'p' })).body.project.id as string;
  const restricted = await newAccount(s, await signedIn(s), { projectIds: [project] });
  const ask = (path: string) =>
    s.call('GET', `${SCM}/repositories${path}`, undefined, { key: restricted.key });
  expect([(await ask(`/${id}`)).status, (await ask('')).status]).toEqual([404, 401]);
});

test('409 for a name that is taken, of five at a time too; the losers leave no folder', async () => {
  const taken = name();
  const answers = await Promise.all(Array.from({ length: 5 }, () => create({ name: taken, files: [] })));
  expect(answers.map((a) => a.body.error?.code ?? a.status).sort()).toEqual([
    201,
    ...Array(4).fill('repository_name_taken'),
  ]);
  const { rows } = { rows: await s.service.ctx.db.selectFrom('repositories').select('id').execute() };
  const folders = readdirSync(join(s.service.ctx.config.dataDir, 'repositories'));
  expect(folders.filter((folder) => !rows.some(({ id }) => folder === `${id}.git`))).toEqual([]);
  expect(existsSync(folderOf(answers.find((a) => a.status === 201)!.body.repository.id))).toBe(true);
});

test('the list is in the order of the names, and is found by a part of them', async () => {
  const { cookie } = await tenant(s);
  const { key } = await newAccount(s, cookie);
  for (const one of ['b', 'a.b', 'jq_w', 'a-b', 'jqw'])
    await s.call('POST', `${SCM}/repositories`, { name: one }, { key });
  const list = async (query: string) => {
    const { body } = await s.call('GET', `${SCM}/repositories?${query}`, undefined, { key });
    return [body.repositories.map((r: { name: string }) => r.name), body.nextCursor] as [
      string[],
      string | null,
    ];
  };
  const [first, cursor] = await list('limit=3');
  expect([first, (await list(`limit=3&cursor=${cursor}`))[0]]).toEqual([
    ['a-b', 'a.b', 'b'],
    ['jq_w', 'jqw'],
  ]);
  expect([await list('query=JQ_'), await list('query=%25')]).toEqual([
    [['jq_w'], null],
    [[], null],
  ]);
});

describe('a repository with branches', () => {
  let id: string, first: string, second: string;
  beforeAll(async () => {
    ({ id } = (await create({ files: [{ path: 'a.txt', content: '12345' }] })).body.repository);
    first = (await git(id, 'rev-parse', 'main')).trim();
    second = await commitFiles(folderOf(id), 'work', [
      { path: '.gitattributes', content: '*.bin filter=lfs\n' },
      { path: '.hoplite/x', content: 'x' },
      { path: 'a.txt', content: '1234567890' },
      { path: 'link', content: 'a.txt', mode: '120000' },
    ]);
    for (const one of ['feature/b', 'feature/a', 'feature-x', 'Zed'])
      await git(id, 'update-ref', `refs/heads/${one}`, first);
    await git(id, 'update-ref', 'refs/tags/v1', first);
  });
  const ask = (path: string) => s.call('GET', `${SCM}/repositories/${id}${path}`);

  test('lists them by the bytes of their names, page by page and by what they begin with', async () => {
    const names = async (query: string) => {
      const { body } = await ask(`/branches${query}`);
      return [body.branches.map((one: { name: string }) => one.name), body.nextCursor];
    };
    const [page, cursor] = await names('?limit=3');
    expect([page, (await names(`?limit=5&cursor=${cursor}`))[0]]).toEqual([
      ['Zed', 'feature-x', 'feature/a'],
      ['feature/b', 'main', 'work'],
    ]);
    expect((await names('?query=feature/'))[0]).toEqual(['feature/a', 'feature/b']);
    for (const none of ['*', 'eature', 'refs/heads', '--'])
      expect(await names(`?query=${encodeURIComponent(none)}`)).toEqual([[], null]);
    expect((await ask('/branches?query=main')).body.branches).toEqual([
      { name: 'main', commitSha: first, isDefault: true, protected: true },
    ]);
  });

  test('is looked at by branch and by commit', async () => {
    const inspected = async (query: string) => (await ask(`/inspect${query}`)).body.inspection;
    const base = { repositoryId: id, truncated: false, withinLimits: true, canPush: true };
    expect(await inspected('')).toEqual({
      ...base,
      ref: 'main',
      commitSha: first,
      fileCount: 1,
      byteSize: 5,
      keptAsideCount: 0,
      usesLfs: false,
    });
    expect(await inspected(`?ref=${second}`)).toEqual({
      ...base,
      ref: second,
      commitSha: second,
      fileCount: 2,
      byteSize: 27,
      keptAsideCount: 2,
      usesLfs: true,
    });
    const { config } = s.service.ctx;
    const limits = config.repositoryLimits;
    config.repositoryLimits = { ...limits, bytes: 26 };
    expect((await inspected('?ref=work')).withinLimits).toBe(false);
    config.repositoryLimits = limits;
  });

  test.each([
    'nowhere',
    'v1',
    'HEAD',
    'main~0',
    'main^{tree}',
    'main:a.txt',
    '--help',
    '../../etc',
    'refs/heads/main',
  ])('has nothing to look at in %s', async (ref) => {
    const { status, body } = await ask(`/inspect?ref=${encodeURIComponent(ref)}`);
    expect([status, body.error.code]).toEqual([404, 'branch_not_found']);
  });

  test('takes statuses of its commits; the newest of a context counts', async () => {
    const path = `/commits/${second}/statuses`;
    const log = `LOG ${randomUUID()}`;
    for (const fields of [
      { context: 'ci', state: 'pending' },
      { context: 'lint', state: 'success' },
      { context: 'ci', state: 'failure', log },
    ])
      expect((await s.call('POST', `${SCM}/repositories/${id}${path}`, fields)).status).toBe(201);
    const all = await ask(path);
    const shown = (answer: typeof all) =>
      answer.body.statuses.map((one: { context: string; state: string; hasLog: boolean }) => [
        one.context,
        one.state,
        one.hasLog,
      ]);
    expect(shown(all)).toEqual([
      ['ci', 'failure', true],
      ['lint', 'success', false],
      ['ci', 'pending', false],
    ]);
    expect(shown(await ask(`${path}?latest=true`))).toEqual([
      ['ci', 'failure', true],
      ['lint', 'success', false],
    ]);
    expect(all.text).not.toContain(log);
    for (const sha of ['1'.repeat(40), second.slice(0, 10), 'work', 'HEAD', `${second}%00`]) {
      const statuses = `/commits/${sha}/statuses`;
      expect((await ask(statuses)).body.error.code).toBe('commit_not_found');
      const body = { context: 'ci', state: 'success' };
      expect((await s.call('POST', `${SCM}/repositories/${id}${statuses}`, body)).body.error.code).toBe(
        'commit_not_found',
      );
    }
  });

  test('changes its default branch to one that is there, and is deleted once no project is bound', async () => {
    const patch = (body: unknown) => s.call('PATCH', `${SCM}/repositories/${id}`, body);
    const before = (await ask('')).body.repository;
    const wrong = await patch({ defaultBranch: 'wor', requiredChecks: ['ci'] });
    expect([wrong.status, wrong.body.error.code, (await ask('')).body.repository]).toEqual([
      404,
      'branch_not_found',
      before,
    ]);
    expect((await patch({ defaultBranch: 'work' })).body.repository.defaultBranch).toBe('work');
    const project = (await s.call('POST', '/api/projects', { name: 'p', repositoryId: id })).body.project
      .id as string;
    const remove = () => s.call('DELETE', `${SCM}/repositories/${id}`);
    expect((await remove()).body.error.code).toBe('repository_in_use');
    await s.call('DELETE', `/api/projects/${project}`);
    expect((await remove()).status).toBe(200);
    expect((await ask('/branches')).body.error.code).toBe('repository_not_found');
    expect((await create({ name: before.name })).body.repository.id).not.toBe(id);
    const cookie = await signedIn(s);
    const { body } = await s.call('GET', '/api/audit', undefined, { cookie });
    expect(
      body.entries
        .filter((e: { targetId: string }) => e.targetId === id)
        .map((e: { action: string }) => e.action),
    ).toEqual(['repository.deleted', 'repository.updated', 'repository.created']);
  });
});
