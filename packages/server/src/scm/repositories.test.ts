import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
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
