import { expect, test } from 'vitest';
import { appIdIn, directSample } from './direct-sample.ts';

const APP = '/api/platform/v1/apps/prj_1';
const direct = (path: string, ts: string, cli: string | null = null, body?: unknown) =>
  directSample({ method: 'POST', path, ts, cli, ...(body !== undefined && { body }) });

test('the app or project of a path', () => {
  expect(appIdIn(`${APP}/settings`)).toBe('prj_1');
  expect(appIdIn('/api/settings')).toBeNull();
});

test.each([
  [
    `${APP}/threads/thr_1/stop`,
    `client.runs.stop("prj_1", "thr_1")`,
    '/api/threads/thr_1/stop',
    "client.thread('thr_1').runs.stop()",
  ],
  [
    `${APP}/threads/thr_1`,
    `client.threads.update("prj_1", "thr_1", {\n  "title": null\n})`,
    '/api/threads/thr_1',
    `client.thread('thr_1').update({\n  "title": null\n})`,
  ],
  [
    `${APP}/settings`,
    `await client.settings.update('prj_1', {});`,
    '/api/projects/prj_1/settings',
    "await client.project('prj_1').settings.update({});",
  ],
  [
    `${APP}/threads/thr_1/builds`,
    `client.builds.create('prj_1', 'thr_1', {"command":"x"})`,
    '/api/threads/thr_1/builds',
    `client.thread('thr_1').builds.create({"command":"x"})`,
  ],
  [
    `${APP}/builds/bld_1/cancel`,
    `client.builds.cancel('prj_1', 'bld_1')`,
    '/api/projects/prj_1/builds/bld_1/cancel',
    `client.project('prj_1').builds.cancel('bld_1')`,
  ],
])('%s', (path, ts, toPath, toTs) => {
  expect(direct(path, ts)).toMatchObject({ path: toPath, ts: toTs });
});

test.each([
  ['headrace settings set --app prj_1 a:=1', 'headrace settings set --project prj_1 a:=1'],
  ['headrace env set A --app prj_1 < value.txt', 'headrace env set A --project prj_1 < value.txt'],
  ['headrace stop thr_1 --app prj_1', 'headrace stop thr_1'],
  ["headrace thread update thr_1 --title 'a --app b'", "headrace thread update thr_1 --title 'a --app b'"],
])('%s', (cli, expected) => {
  expect(direct(`${APP}/settings`, '', cli).cli).toBe(expected);
});

test('commands that know only apps become a call of the API', () => {
  expect(
    direct(`${APP}/threads/thr_1/builds`, '', 'headrace build thr_1 --app prj_1', { a: "it's" }).cli,
  ).toBe(`echo '{"a":"it'\\''s"}' | headrace api POST /api/threads/thr_1/builds --input -`);
  expect(direct(`${APP}/builds/bld_1/cancel`, '', 'headrace builds cancel bld_1 --app prj_1').cli).toBe(
    'headrace api POST /api/projects/prj_1/builds/bld_1/cancel',
  );
  expect(direct(`${APP}/x/y`, '', null).cli).toBeNull();
});
