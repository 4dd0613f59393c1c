import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loopback, refusal, sendJson } from '../loopback.fixture.ts';
import { plan } from './plan.ts';
import { push } from './push.ts';
import { scanFolder } from './scan.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headrace push '));
  writeFileSync(join(folder, 'a.txt'), 'a');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const app = { ok: true, app: { headSourceId: null } };

test('a source with other files than were sent is not taken as the push, nor as the head', async () => {
  await using service = await loopback((response, { method }) => {
    if (method === 'GET') sendJson(response, 200, app);
    else sendJson(response, 201, { ok: true, source: { id: 'src_1', sha256: '0'.repeat(64) }, warnings: [] });
  });
  await expect(push(service.client, 'prj_1', folder)).rejects.toThrow('src_1 has another SHA-256');
  expect(service.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /api/platform/v1/apps/prj_1',
    'POST /api/platform/v1/apps/prj_1/sources',
  ]);
});

test('the import has the given key; a head that another push made meanwhile is left', async () => {
  const { sha256 } = await scanFolder(folder);
  await using service = await loopback((response, { method, url }) => {
    if (method === 'GET') sendJson(response, 200, app);
    else if (url.endsWith('/initialize')) sendJson(response, 409, refusal('head_already_initialized'));
    else sendJson(response, 201, { ok: true, source: { id: 'src_1', sha256 }, warnings: [] });
  });
  const source = await push(service.client, 'prj_1', folder, { idempotencyKey: 'mine', message: 'Hi' });
  expect(source).toMatchObject({ id: 'src_1', sent: 'files', bytesSent: 1, skipped: [] });
  const [, imported, initialized] = service.seen;
  expect(imported!.headers['idempotency-key']).toBe('mine');
  expect(JSON.parse(imported!.body)).toEqual({
    files: [{ path: 'a.txt', content: 'a', encoding: 'utf8', executable: false }],
    message: 'Hi',
  });
  expect(initialized!.headers['idempotency-key']).not.toBe('mine');
});

test('what the service refuses is thrown as it is', async () => {
  await using service = await loopback((response, { method }) => {
    if (method === 'GET') sendJson(response, 200, app);
    else sendJson(response, 409, refusal('repository_bound'));
  });
  await expect(push(service.client, 'prj_1', folder)).rejects.toMatchObject({ code: 'repository_bound' });
});

test('a plan is pushed as it is: the folder is not compared again', async () => {
  const { sha256 } = await scanFolder(folder);
  await using service = await loopback((response, { method }) => {
    if (method === 'GET') sendJson(response, 200, app);
    else sendJson(response, 201, { ok: true, source: { id: 'src_1', sha256 }, warnings: [] });
  });
  const planned = await plan(service.client, 'prj_1', folder);
  writeFileSync(join(folder, 'later.txt'), 'later');
  await push(service.client, 'prj_1', planned, { initializeHead: false });
  expect(service.seen.map(({ method }) => method)).toEqual(['GET', 'POST']);
  expect(JSON.parse(service.seen[1]!.body)).toMatchObject({ files: [{ path: 'a.txt' }] });
});
