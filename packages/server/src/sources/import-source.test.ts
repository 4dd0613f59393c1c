import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { StorageUnavailableError } from '../storage/object-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { tarFixture } from '../trees/tar.fixture.ts';

const P = '/api/platform/v1';
let server: TestServer;
let appId: string;
let url: string;
beforeAll(async () => {
  server = await startTestServer();
  appId = (await server.call('POST', `${P}/apps`, { name: 'Sources' })).body.app.id;
  url = `${P}/apps/${appId}/sources`;
});
afterAll(() => server.close());

const file = (path: string, content = path) => ({ path, content });
const kept = () => server.service.ctx.pool.keptCount;
const away = () => Promise.reject(new StorageUnavailableError('away'));
let store: ObjectStore | undefined;
/** Replaces methods of the store until the test ends. */
function withStore(changes: Partial<ObjectStore>): void {
  store ??= server.service.ctx.store;
  server.service.ctx.store = Object.assign(Object.create(store) as ObjectStore, changes);
}
afterEach(() => {
  if (store) server.service.ctx.store = store;
});

describe('201', () => {
  test('stores the source and publishes it', async () => {
    const answer = await server.call('POST', url, { files: [file('b'), file('a/x')], message: 'First' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-operation-id')).toMatch(/^op_/);
    const { source } = answer.body;
    expect(source).toMatchObject({
      projectId: appId,
      origin: 'import',
      message: 'First',
      fileCount: 2,
      byteSize: 4,
      parentSourceIds: [],
      threadId: null,
      runId: null,
    });
    const rows = await server.service.ctx.db
      .selectFrom('sources')
      .select(['id'])
      .where('id', '=', source.id)
      .execute();
    expect(rows.length).toBe(1);
  });

  test('a retry replays it and keeps no contents in memory', async () => {
    const idem = randomUUID();
    const body = { files: [file('replayed')] };
    const [first, again] = [
      await server.call('POST', url, body, { idem }),
      await server.call('POST', url.replace('/apps/', '/projects/'), body, { idem }),
    ];
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      'true',
    ]);
    expect(again.text).toBe(first.text);
    await vi.waitFor(() => expect(kept()).toBe(0));
  });

  test('rivals with the same contents wait for each other, none fails', async () => {
    const files = Array.from({ length: 500 }, (_, i) => file(`rival/${i}`, `shared content ${i}\n`));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        server.call('POST', url, { files: i % 2 ? files : files.toReversed() }),
      ),
    );
    expect(answers.map((a) => a.status)).toEqual([201, 201, 201, 201, 201, 201]);
    expect(new Set(answers.map((a) => a.body.source.sha256)).size).toBe(1);
    const read = await server.call('GET', `${url}/${answers[5]!.body.source.id}/file?path=rival/77`);
    expect(read.body.file).toMatchObject({ encoding: 'utf8', content: 'shared content 77\n' });
  });
});

describe('links of a tar.gz', () => {
  const archive = gzipSync(
    tarFixture([
      { path: 'x', content: 'x' },
      { path: 'copy', type: '2', link: 'x' },
      { path: 'out', type: '2', link: '/etc' },
    ]),
  );
  const send = (query: string, idem: string = randomUUID()) =>
    server.call('POST', `${url}${query}`, archive, { headers: { 'content-type': 'application/gzip' }, idem });

  test('follow the query, which a retry has to repeat', async () => {
    const idem = randomUUID();
    const first = await send('?links=follow', idem);
    expect([first.status, first.body.source.fileCount, first.body.warnings]).toEqual([
      201,
      2,
      [{ path: 'out', reason: 'leads out of the archive' }],
    ]);
    expect((await send('?links=follow', idem)).text).toBe(first.text);
    expect((await send('?links=skip', idem)).body.error.code).toBe('idempotency_conflict');
    const skipped = await send('?links=skip');
    expect([skipped.body.source.fileCount, skipped.body.warnings.length]).toEqual([1, 2]);
  });

  test('are refused by default', async () => {
    for (const query of ['', '?links=refuse']) {
      const { status, body } = await send(query);
      expect([status, body.error.code, body.error.fields.length]).toEqual([400, 'invalid_bundle', 2]);
    }
    expect((await send('?links=copy')).body.error.fields[0].path).toBe('/query/links');
    const json = await server.call('POST', `${url}?links=skip`, { files: [] });
    expect([json.status, json.body.error.fields[0].path]).toEqual([400, '/query/links']);
  });

  test('are nothing to JSON: its warnings are empty', async () =>
    expect((await server.call('POST', url, { files: [file('y')] })).body.warnings).toEqual([]));
});

describe('400', () => {
  test('message and parent of a JSON import have one place', async () => {
    const answer = await server.call('POST', `${url}?message=hi&parentSourceId=x`, { files: [] });
    expect([answer.status, answer.body.error.fields.map((f: { path: string }) => f.path)]).toEqual([
      400,
      ['/query/message', '/query/parentSourceId'],
    ]);
  });

  test('a refused bundle names its places and keeps no contents in memory', async () => {
    const answer = await server.call('POST', url, { files: [file('fine'), file('../up')] });
    expect([answer.status, answer.body.error.code, answer.body.error.fields[0].path]).toEqual([
      400,
      'invalid_bundle',
      '/files/1/path',
    ]);
    await vi.waitFor(() => expect(kept()).toBe(0));
  });
});

describe('401, 403, 404, 415', () => {
  test('come before the body is looked at, and in that order', async () => {
    expect((await server.call('POST', url, 'no json', { key: null })).status).toBe(401);
    expect(
      (await server.call('POST', url, 'text', { headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(415);
    const nowhere = await server.call('POST', `${P}/apps/prj_01kaefgh00e1x9y6w2vq5r3t7n/sources`, {
      files: [],
    });
    expect([nowhere.status, nowhere.body.error.code]).toEqual([404, 'app_not_found']);
    expect(
      (await server.call('POST', `${P}/apps/prj_01kaefgh00e1x9y6w2vq5r3t7n/sources`, { files: [file('..')] }))
        .status,
    ).toBe(400);
  });

  test('an unknown parent is source_not_found, settles, and keeps no contents in memory', async () => {
    const body = { files: [file('a')], parentSourceId: 'src_01kaefgh00e1x9y6w2vq5r3t7n' };
    const idem = randomUUID();
    const answers = [
      await server.call('POST', url, body, { idem }),
      await server.call('POST', url, body, { idem }),
    ];
    expect(answers.map((a) => [a.status, a.body.error.code, a.headers.get('idempotent-replayed')])).toEqual([
      [404, 'source_not_found', null],
      [404, 'source_not_found', 'true'],
    ]);
    await vi.waitFor(() => expect(kept()).toBe(0));
  });
});

describe('503', () => {
  test('while the store is away; the key is released and nothing stays', async () => {
    const idem = randomUUID();
    const body = { files: [file('storage', `needs storage ${idem}`)] };
    withStore({ put: away });
    const refused = await server.call('POST', url, body, { idem });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'source_storage_unavailable']);
    expect(refused.headers.get('retry-after')).toBe('1');
    const open = await server.service.ctx.db
      .selectFrom('objects')
      .select('delete_after')
      .where('committed_at', 'is', null)
      .execute();
    expect(open.every((o) => o.delete_after !== null)).toBe(true);
    server.service.ctx.store = store!;
    expect((await server.call('POST', url, body, { idem })).status).toBe(201);
    expect(kept()).toBe(0);
  });

  test('reading is 503 too, before the first byte of an archive', async () => {
    const { source } = (await server.call('POST', url, { files: [file('unread', `unread ${randomUUID()}`)] }))
      .body;
    withStore({ getRange: away });
    for (const path of ['file?path=unread', 'archive']) {
      const answer = await server.call('GET', `${url}/${source.id}/${path}`);
      expect([answer.status, answer.body.error.code]).toEqual([503, 'source_storage_unavailable']);
    }
    expect((await server.call('GET', `${url}/${source.id}/files`)).status).toBe(200);
  });
});

describe('reads', () => {
  test("an archive imports as the same source; both have the source's hash as ETag", async () => {
    const { source } = (
      await server.call('POST', url, { files: [{ ...file('run'), executable: true }, file('x/y')] })
    ).body;
    const response = await fetch(`${server.base}${url}/${source.id}/archive`, {
      headers: { 'x-api-key': server.key },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.headers.get('content-type'), response.headers.get('etag')]).toEqual([
      'application/gzip',
      `"${source.sha256}"`,
    ]);
    const again = await server.call('POST', `${url}?message=again`, bytes, {
      headers: { 'content-type': 'application/gzip' },
    });
    expect([again.status, again.body.source.sha256, again.body.source.message]).toEqual([
      201,
      source.sha256,
      'again',
    ]);
    const same = await server.call('GET', `${url}/${again.body.source.id}/archive`, undefined, {
      headers: { 'if-none-match': `W/"${source.sha256}"` },
    });
    expect([same.status, same.text]).toEqual([304, '']);
  });

  test('a file that is no UTF-8 comes as base64; a changed mode changes the ETag', async () => {
    const bytes = Buffer.from([0xff, 0, 0xfe]);
    const content = { path: 'bin', content: bytes.toString('base64'), encoding: 'base64' };
    const [plain, executable] = [
      await server.call('POST', url, { files: [content] }),
      await server.call('POST', url, { files: [{ ...content, executable: true }] }),
    ];
    const read = (id: string) => server.call('GET', `${url}/${id}/file?path=bin`);
    const [a, b] = [await read(plain.body.source.id), await read(executable.body.source.id)];
    expect(a.body.file).toMatchObject({
      encoding: 'base64',
      content: bytes.toString('base64'),
      executable: false,
    });
    expect(b.headers.get('etag')).not.toBe(a.headers.get('etag'));
  });

  test('pages of files stay short with the longest paths, and a cursor is of its source and prefix', async () => {
    const long = `${'語'.repeat(80)}/`.repeat(12);
    const { source } = (
      await server.call('POST', url, { files: Array.from({ length: 5 }, (_, i) => file(`${long}${i}`)) })
    ).body;
    const files = `${url}/${source.id}/files`;
    const first = await server.call('GET', `${files}?limit=2`);
    expect(first.body.nextCursor.length).toBeLessThan(100);
    const second = await server.call('GET', `${files}?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body.files.map((f: { path: string }) => f.path.at(-1))).toEqual(['2', '3']);
    expect(
      (await server.call('GET', `${files}?prefix=a&cursor=${first.body.nextCursor}`)).body.error.code,
    ).toBe('invalid_cursor');
  });

  test('a diff names both sources; an unknown base is 404', async () => {
    const [base, next] = [
      await server.call('POST', url, { files: [file('a', 'one\n')] }),
      await server.call('POST', url, { files: [file('a', 'two\n')] }),
    ];
    const path = `${url}/${next.body.source.id}/diff?base=`;
    const diff = await server.call('GET', path + base.body.source.id);
    expect(diff.body.diff).toMatchObject({
      baseSourceId: base.body.source.id,
      sourceId: next.body.source.id,
      files: [{ path: 'a', status: 'modified', additions: 1, deletions: 1 }],
    });
    expect((await server.call('GET', `${path}nothing`)).body.error.code).toBe('source_not_found');
    expect((await server.call('GET', `${url}/${next.body.source.id}/diff`)).body.error.fields[0].path).toBe(
      '/query/base',
    );
  });
});

test('a diff has the parts that are asked for, on each form of its path', async () => {
  const text = 'line\n'.repeat(20);
  const [base, next] = [
    await server.call('POST', url, { files: [file('a', 'one\n'), file('b', 'b\n'), file('old/c', text)] }),
    await server.call('POST', url, {
      files: [file('a', 'two\n'), file('b', 'B\n'), file('new/c', `${text}x\n`)],
    }),
  ];
  const at = `${url}/${next.body.source.id}/diff?base=${base.body.source.id}`;
  const forms = ['/projects/', '/api/projects/'].map((form) =>
    form === '/projects/' ? at.replace('/apps/', form) : at.replace(/^.*\/apps\//, form),
  );
  const filesOf = async (query: string, path = at) => {
    const { status, body, text: answer } = await server.call('GET', path + query);
    expect(status, answer).toBe(200);
    return body.diff.files as { path: string; patch?: string }[];
  };
  const whole = await filesOf('');
  expect(whole.map((f) => f.path)).toEqual(['a', 'b', 'new/c']);
  expect(await filesOf('&patches=false')).toEqual(whole.map(({ patch: _patch, ...rest }) => rest));
  expect(await filesOf('&patches=true')).toEqual(whole);
  for (const path of [at, ...forms]) {
    expect(await filesOf('&path=b', path)).toEqual([whole[1]]);
    expect(await filesOf('&path=old%2Fc&path=a&path=none&path=A', path)).toEqual([whole[0], whole[2]]);
  }
  expect((await filesOf('&path=a&patches=false'))[0]).not.toHaveProperty('patch');
  expect((await filesOf('&path=x'.repeat(50))).length).toBe(0);
  for (const [query, field] of [
    ['&path=x'.repeat(51), '/query/path'],
    ['&path=a&path=%00', '/query/path/1'],
    ['&path=', '/query/path/0'],
    ['&patches=no', '/query/patches'],
    ['&patches=', '/query/patches'],
    ['&patches=1', '/query/patches'],
    ['&patches=true&patches=false', '/query/patches'],
  ] as const) {
    const { status, body } = await server.call('GET', at + query);
    expect([status, body.error?.fields?.[0].path], query).toEqual([400, field]);
  }
});

test('a body that is gzip only by its name is refused as a bundle', async () => {
  const answer = await server.call('POST', url, gzipSync(Buffer.from('not a tar')), {
    headers: { 'content-type': 'application/gzip' },
  });
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_bundle']);
});
