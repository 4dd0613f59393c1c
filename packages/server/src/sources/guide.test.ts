/** Runs the guide's commands unchanged, in their order, against a service. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const blocks = commandsOf('sources.md');
const scratch = mkdtempSync(join(tmpdir(), 'headrace-sources-'));
const [repository, work] = [join(scratch, 'repository'), join(scratch, 'work')];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  mkdirSync(join(repository, 'node_modules'), { recursive: true });
  mkdirSync(work);
  writeFileSync(join(repository, '.gitignore'), 'node_modules\nsecret\n');
  writeFileSync(join(repository, 'node_modules/dependency.js'), '');
  writeFileSync(join(repository, 'secret'), 's');
  writeFileSync(join(repository, 'app.js'), 'console.log(1);\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first');
});
afterAll(async () => {
  await server?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const run = (commands: string, appId: string): Promise<string> =>
  runCommands(
    commands,
    {
      HEADRACE: server.base,
      KEY: server.key,
      APP: appId,
      FOLDER: repository,
      REPOSITORY: repository,
    },
    work,
  );

test.skipIf(missing.length > 0)(`the guide’s commands import${hint}`, async () => {
  const { app } = (await server.call('POST', '/api/platform/v1/apps', { name: 'Guide' })).body;
  const source = async (id: string) => {
    const { body } = await server.call('GET', `/api/platform/v1/apps/${app.id}/sources/${id}/files`);
    return body.files.map((file: { path: string }) => file.path);
  };
  expect(blocks.length).toBe(6);
  const [folder, changes, commit, uncommitted, skipped, refused] = blocks.map(
    (code) => () => run(code, app.id),
  );

  const first = JSON.parse(await folder!());
  expect(first).toEqual({ id: expect.stringMatching(/^src_/), fileCount: 3, warnings: [] });
  expect(await source(first.id)).toEqual(['.gitignore', 'app.js', 'secret']);

  const changed = JSON.parse(await changes!());
  expect(changed).toMatchObject({ fileCount: 4, message: 'By changes' });
  expect(await source(changed.id)).toEqual(['.gitignore', 'CHANGES.md', 'app.js', 'secret']);

  const head = JSON.parse(await commit!());
  expect(head.revision).toBe(1);
  expect(await source(head.sourceId)).toEqual(['.gitignore', 'app.js']);

  writeFileSync(join(repository, 'new.js'), '');
  symlinkSync('/etc/hostname', join(repository, 'link'));
  await uncommitted!();
  expect(
    execFileSync('tar', ['-tzf', 'app.tar.gz'], { cwd: work, encoding: 'utf8' }).split('\n').sort(),
  ).toEqual(['', '.gitignore', 'app.js', 'link', 'new.js']);
  expect(await skipped!()).toBe('link: symbolic link\n');
  expect(await refused!()).toMatch(/^\/files\/\d\/path: "link" is a symbolic link to "\/etc\/hostname": /);
});
