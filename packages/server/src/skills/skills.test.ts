import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { verifyStorage } from '../sources/verify/verify-storage.ts';
import { cleanUp } from '../teardown/cleanup.ts';
import { skillOf } from './skills.fixture.ts';

let s: TestServer;
let cookie: string;
let key: string;
let appId: string;
let organizationId: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});
beforeEach(async () => {
  const founder = await tenant(s);
  ({ cookie } = founder);
  organizationId = founder.organization.id;
  ({ key } = await newAccount(s, cookie));
  appId = (await s.call('POST', '/api/platform/v1/apps', { name: 'x' }, { key })).body.app.id;
});

const path = (name = '', form = 'apps') => `/api/platform/v1/${form}/${appId}/skills${name && `/${name}`}`;
const set = (name: string, body: unknown = skillOf(name), idem = randomUUID()) =>
  s.call('PUT', path(name), body, { key, idem });
const remove = (name: string) => s.call('DELETE', path(name), undefined, { key });
const names = async () =>
  expectStatus(await s.call('GET', path(), undefined, { key }), 200).body.skills.map(
    (skill: { name: string }) => skill.name,
  );
/** `SKILL.md` with this text, in a skill named `a`. */
const withText = (content: string) => set('a', { files: [{ path: 'SKILL.md', content }] });
const withFront = (front: string) => withText(`---\n${front}\n---\nText\n`);
const faultOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.error?.code,
  body.error?.fields?.map((field: { path: string }) => field.path).join(),
];
const objects = () =>
  s.service.ctx.db
    .selectFrom('objects')
    .select(['key', 'project_id', 'committed_at', 'delete_after'])
    .where('org_id', '=', organizationId)
    .orderBy('created_at')
    .execute();
const inStore = async (folder: string) => {
  const found = [];
  for await (const { key: object } of s.service.ctx.store.list(folder)) found.push(object);
  return found;
};

describe('200', () => {
  test('an archive is as a source of the same files has it, and says so by its ETag', async () => {
    const body = skillOf('a', { 'x/ä.txt': 'ä', 'z.txt': '' });
    const { skill } = expectStatus(await set('a', body), 200).body;
    const source = (await s.call('POST', `/api/platform/v1/apps/${appId}/sources`, body, { key })).body
      .source;
    expect([skill.sha256, skill.byteSize, skill.fileCount]).toEqual([
      source.sha256,
      source.byteSize,
      source.fileCount,
    ]);
    const bytesOf = async (of: string, headers = {}) => {
      const answer = await fetch(`${s.base}${of}/archive`, { headers: { 'x-api-key': key, ...headers } });
      return [answer.status, answer.headers.get('etag'), Buffer.from(await answer.arrayBuffer())] as const;
    };
    const archive = await bytesOf(path('a'));
    expect(archive).toEqual(await bytesOf(`/api/platform/v1/apps/${appId}/sources/${source.id}`));
    expect((await bytesOf(path('a'), { 'if-none-match': archive[1] }))[0]).toBe(304);
  });

  test('the same files are stored once; what is replaced or deleted goes, later than any run needs it', async () => {
    const first = expectStatus(await set('a'), 200).body.skill;
    const again = expectStatus(await set('a'), 200).body.skill;
    expect(again).toEqual({ ...first, updatedAt: expect.any(String) });
    expect((await objects()).length).toBe(1);
    expectStatus(await set('a', skillOf('a', { x: 'x' })), 200);
    expectStatus(await remove('a'), 200);
    const kept = await objects();
    expect(kept.map((o) => [o.project_id, o.committed_at === null])).toEqual([
      [appId, false],
      [appId, false],
    ]);
    for (const { delete_after: at } of kept)
      expect(at!.getTime() - Date.now()).toBeGreaterThan(2.5 * 60 * 60_000);
    await s.service.ctx.db
      .updateTable('objects')
      .set({ delete_after: new Date(0) })
      .where('org_id', '=', organizationId)
      .execute();
    await cleanUp(s.service.ctx);
    expect([await objects(), await inStore(`projects/${appId}/`)]).toEqual([[], []]);
  });

  test('set again, a skill has its files again that were lost, and keeps sound ones as they are', async () => {
    const { ctx } = s.service;
    const verify = () =>
      verifyStorage({ db: ctx.db, store: ctx.store }, { projectId: appId, concurrency: 2 });
    expectStatus(await set('a'), 200);
    const [lost] = await inStore(`projects/${appId}/skills/`);
    await ctx.store.delete(lost!);
    expectStatus(await set('a'), 200);
    expect(await verify()).toMatchObject({ damage: 0, artifacts: 1 });
    const key = (await inStore(`projects/${appId}/skills/`))[0]!;
    expect(key).not.toBe(lost);
    // As another version of the compressor made them.
    const bytes = gzipSync(gunzipSync(await ctx.store.get(key)), { level: 0 });
    await ctx.store.put(key, bytes);
    await ctx.db
      .updateTable('skills')
      .set({
        archive_sha256: createHash('sha256').update(bytes).digest('hex'),
        archive_byte_size: bytes.length,
      })
      .where('archive_key', '=', key)
      .execute();
    expectStatus(await set('a'), 200);
    expect(await inStore(`projects/${appId}/skills/`)).toEqual([key]);
    expect(await verify()).toMatchObject({ damage: 0, artifacts: 1 });
  });

  test('what the store has of a deleted organization goes; what of one nothing names is reported', async () => {
    const { ctx } = s.service;
    const [unused, stray] = ['unused', 'stray'].map(
      (name) => `organizations/${organizationId}/skills/${name}`,
    );
    for (const one of [unused, stray]) await ctx.store.put(one!, Buffer.from('1234567'));
    await ctx.db
      .insertInto('objects')
      .values({ org_id: organizationId, project_id: null, key: unused!, committed_at: new Date() })
      .execute();
    const { warningFindings } = await verifyStorage(
      { db: ctx.db, store: ctx.store },
      { projectId: null, concurrency: 2 },
    );
    expect(warningFindings).toContainEqual(
      expect.objectContaining({ kind: 'object_unused', projectId: null, objectKey: unused }),
    );
    expectStatus(await s.call('DELETE', `/api/organizations/${organizationId}`, undefined, { cookie }), 200);
    const later = { ...ctx, clock: { offsetMs: (ctx.config.eventRetentionSeconds + 60) * 1000 } };
    await cleanUp(later);
    expect((await objects()).map((o) => [o.key, o.delete_after !== null]).sort()).toEqual([
      [stray, true],
      [unused, true],
    ]);
  });

  test("the organization's objects go with it; nobody else's do", async () => {
    expectStatus(await s.call('PUT', '/api/skills/a', skillOf('a'), { cookie }), 200);
    const { ctx } = s.service;
    const verify = async (projectId: string | null) =>
      verifyStorage({ db: ctx.db, store: ctx.store }, { projectId, concurrency: 2 });
    expectStatus(await set('a'), 200);
    const [theirs] = await inStore(`organizations/${organizationId}/`);
    expect(await verify(appId)).toMatchObject({ damage: 0, warnings: 0, artifacts: 1 });
    const bytes = await ctx.store.get(theirs!);
    await ctx.store.delete(theirs!);
    const { findings } = await verify(null);
    expect(findings.filter(({ objectKey }) => objectKey === theirs)).toMatchObject([
      { kind: 'object_missing', projectId: null },
    ]);
    await ctx.store.put(theirs!, bytes);
    expectStatus(await s.call('DELETE', `/api/organizations/${organizationId}`, undefined, { cookie }), 200);
    expect((await objects()).filter((o) => o.delete_after === null)).toEqual([]);
    expect(
      await ctx.db.selectFrom('skills').select('id').where('org_id', '=', organizationId).execute(),
    ).toEqual([]);
  });

  test.each([
    ['lines that become one', 'name: a\ndescription: >-\n  Two\n  lines.', 'Two lines.'],
    ['text that looks like something else', 'name: a\ndescription: true', 'true'],
    ['1,024 characters of two units', `description: ${'🔑'.repeat(1_024)}\nname: a`, '🔑'.repeat(1_024)],
    ['line ends of Windows', 'name: a\r\ndescription: "x"\r', 'x'],
    [
      'more than is asked for',
      'name: a\ndescription: x\nmetadata: {a: [1, {b: c}]}\nallowed-tools: Read',
      'x',
    ],
  ])('front matter with %s', async (_, front, description) => {
    expect(expectStatus(await withFront(front), 200).body.skill.description).toBe(description);
  });

  test('a name of digits is text', async () => {
    expect(expectStatus(await set('007'), 200).body.skill.name).toBe('007');
  });
});

describe('400', () => {
  test.each([
    ['an alias', 'x: &x [1]\ny: *x\nname: a\ndescription: d'],
    [
      'aliases that grow',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((c, i) => `${c}: &${c} [${`*${'abcdefghi'[i]},`.repeat(9)}]`)
        .join('\n')}\nname: a\ndescription: d`,
    ],
    ['depth', `name: a\ndescription: d\nx: ${'['.repeat(7_000)}${']'.repeat(7_000)}`],
    ['more bytes than are read', `name: a\ndescription: d\nx: ${'x'.repeat(16_384)}`],
    ['a name twice', 'name: a\nname: b\ndescription: d'],
    ['a list', '- name: a'],
    ['a text', 'name'],
    ['two documents', 'name: a\n...\ndescription: d'],
    ['NUL', 'name: a\ndescription: "\\0"'],
    ['a lone surrogate', 'name: a\ndescription: "\\uD800"'],
    ['an escape of terminals', 'name: a\ndescription: "\\e[31m"'],
    ['white space for a description', 'name: a\ndescription: "  "'],
    ['a merge of an alias', 'x: &x {description: d}\n<<: *x\nname: a'],
  ])('front matter with %s', async (_, front) => {
    expect(faultOf(await withFront(front))).toEqual([400, 'invalid_bundle', '/files']);
    expect(await names()).toEqual([]);
  });

  test('a byte order mark, and SKILL.md that is not text', async () => {
    const text = skillOf('a').files[0]!.content;
    expect(faultOf(await withText(`\uFEFF${text}`))).toEqual([400, 'invalid_bundle', '/files']);
    const content = Buffer.concat([Buffer.from(text), Buffer.of(0xff)]).toString('base64');
    const answer = await set('a', { files: [{ path: 'SKILL.md', content, encoding: 'base64' }] });
    expect(faultOf(answer)).toEqual([400, 'invalid_bundle', '/files']);
  });

  test('a path that no sandbox could hold', async () => {
    // 2,814 bytes.
    const deep = `${'🔑'.repeat(50)}/`.repeat(14);
    expectStatus(await set('a', skillOf('a', { [deep + 'x'.repeat(186)]: '' })), 200);
    expect(faultOf(await set('a', skillOf('a', { [deep + 'x'.repeat(187)]: '' })))).toEqual([
      400,
      'invalid_bundle',
      '/files/1/path',
    ]);
  });

  test('the name comes before the files', async () => {
    expect(faultOf(await set('A', { files: 1 }))).toEqual([400, 'invalid_request', '/params/name']);
    expect(faultOf(await set('a', { files: [], message: 'no' }))).toEqual([
      400,
      'invalid_request',
      '/message',
    ]);
  });
});

test('409: of writes at the same time no more are taken than there is room for', async () => {
  for (let i = 0; i < 48; i++) expectStatus(await set(`s${i}`), 200);
  const answers = await Promise.all(['w', 'x', 'y', 'z'].map((name) => set(name)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  expect((await names()).length).toBe(50);
  // What was refused left nothing behind.
  const left = (await objects()).filter((o) => o.committed_at === null && o.delete_after === null);
  expect(left).toEqual([]);
});

test('503: without the store nothing is set, and the same key sets it afterwards', async () => {
  const { store } = s.service.ctx;
  const { put } = store;
  store.put = () => Promise.reject(new StorageUnavailableError('away'));
  const idem = randomUUID();
  try {
    expect((await set('a', skillOf('a'), idem)).body.error.code).toBe('source_storage_unavailable');
  } finally {
    store.put = put;
  }
  expect(await names()).toEqual([]);
  expectStatus(await set('a', skillOf('a'), idem), 200);
});
