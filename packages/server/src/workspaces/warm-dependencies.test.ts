/** Installed dependencies are in no source, but the threads of a project find them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, until } from '../threads/threads.fixture.ts';
import { pass } from './workspaces.fixture.ts';
import { forgetDeletedProjects } from './forget-projects.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const LOCK = JSON.stringify({
  lockfileVersion: 3,
  packages: { '': { name: 'app' }, 'node_modules/dep': { version: '1.0.0' } },
});
const FILES = { 'package-lock.json': LOCK, '.gitignore': 'node_modules/\n' };
const INSTALL =
  'mkdir -p node_modules/dep; echo installed > node_modules/dep/index.js; echo \'{"packages":{"node_modules/dep":{"version":"1.0.0"}}}\' > node_modules/.package-lock.json';
const LOOK = 'cat node_modules/dep/index.js 2>/dev/null || echo none';

const exec = async (at: string, command: string): Promise<{ stdout: string; sourceId: string | null }> =>
  (await ok(s.call('POST', `${at}/exec`, { command }))).exec;
const canShare = async (): Promise<boolean> =>
  until('the runner to have tried', async () => (await s.service.ctx.runner.status()).restore).then(
    (restore) => restore === 'overlay',
  );

test('what one thread installed is there for the next of its project, also after it was put away; for no other project', async () => {
  const first = await newBench(s, { files: FILES });
  expect(await exec(first.at, INSTALL)).toMatchObject({ sourceId: null });
  const expected = (await canShare()) ? 'installed\n' : 'none\n';
  const { thread } = await ok(s.call('POST', `${first.app}/threads`, {}));
  const second = `${first.app}/threads/${thread.id as string}`;
  expect((await exec(second, `${LOOK}; echo own > node_modules/dep/index.js || true`)).stdout).toBe(expected);
  const other = await newBench(s, { files: FILES });
  expect((await exec(other.at, LOOK)).stdout).toBe('none\n');
  pass(s, 61);
  await until('the archive', async () => (await first.thread()).workspaceStatus === 'archived');
  expect((await exec(first.at, `${LOOK}; touch new`)).stdout).toBe(expected);
  const { sourceId } = await exec(first.at, 'rm new; echo x > other');
  expect(Object.keys(await first.files(sourceId!)).sort()).toEqual([
    '.gitignore',
    'other',
    'package-lock.json',
  ]);
});

test('go with their project', async () => {
  if (!(await canShare())) return;
  const b = await newBench(s, { files: FILES });
  await exec(b.at, INSTALL);
  const { runner } = s.service.ctx;
  await forgetDeletedProjects(s.service.ctx);
  expect(await runner.groups()).toContain(b.appId);
  await ok(s.call('DELETE', b.app));
  await until('the runner to forget them', async () => {
    await forgetDeletedProjects(s.service.ctx);
    return !(await runner.groups()).includes(b.appId);
  });
});
