/** Imports by changes, over HTTP. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, newBench, ok, refusal } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const send = (at: string, baseSourceId: string, changes: object[], fields: object = {}, idem?: string) =>
  s.call('POST', `${at}/sources`, { baseSourceId, changes, ...fields }, idem ? { idem } : {});
const one = [{ path: 'n', content: 'n' }];
const shaOf = async (at: string, files: object[]) =>
  (await ok(s.call('POST', `${at}/sources`, { files }))).source.sha256 as string;

describe('201', () => {
  test('a source with the changes; its parent is the base, and nothing else moves', async () => {
    const b = await newBench(s, { files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' } });
    const head = await ok(s.call('GET', `${b.app}/source-head`));
    let answer: { source: { id: string; sha256: string }; warnings: unknown[] };
    const words = await b.during(async () => {
      answer = await ok(
        send(
          b.app,
          b.sourceId,
          [
            { path: 'a.txt', content: 'A\n' },
            { path: 'b.txt', content: null },
            { path: 'd/c.txt', renameFrom: 'c.txt' },
            { path: 'run', content: 'IyE=', encoding: 'base64', executable: true },
          ],
          { message: 'By changes' },
        ),
      );
    });
    expect(words).toEqual(['platform.source.imported']);
    expect(answer!).toMatchObject({
      source: {
        origin: 'import',
        threadId: null,
        runId: null,
        parentSourceIds: [b.sourceId],
        message: 'By changes',
        fileCount: 3,
      },
      warnings: [],
    });
    expect(await b.files(answer!.source.id)).toEqual({ 'a.txt': 'A\n', 'd/c.txt': 'c\n', run: '#!' });
    expect(answer!.source.sha256).toBe(
      await shaOf(b.app, [
        { path: 'run', content: '#!', executable: true },
        { path: 'd/c.txt', content: 'c\n' },
        { path: 'a.txt', content: 'A\n' },
      ]),
    );
    expect(await ok(s.call('GET', `${b.app}/source-head`))).toEqual(head);
    expect((await b.thread()).latestSourceId).toBe(b.sourceId);
  });

  test('the base is any source of the app; a chain of them holds what the last change left', async () => {
    const b = await newBench(s);
    const draft = await ok(s.call('POST', `${b.at}/edits`, { expectedSourceId: b.sourceId, changes: one }));
    let base = draft.source.id as string;
    for (const path of ['x', 'y', 'z'])
      base = (await ok(send(b.app, base, [{ path, content: path }]))).source.id;
    expect(await b.files(base)).toEqual({ 'a.txt': 'a\n', n: 'n', x: 'x', y: 'y', z: 'z' });
    const emptied = await ok(send(b.app, b.sourceId, [{ path: 'a.txt', content: null }]));
    expect(emptied.source.fileCount).toBe(0);
  });

  test('a retry replays it, another payload is refused, and no contents stay in memory', async () => {
    const { at, sourceId } = await newApp(s);
    const idem = randomUUID();
    const first = await send(at, sourceId!, one, {}, idem);
    const again = await send(at, sourceId!, one, {}, idem);
    expect([first.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect(await refusal(send(at, sourceId!, [{ path: 'n', content: 'm' }], {}, idem))).toBe(
      '409 idempotency_conflict',
    );
    await vi.waitFor(() => expect(s.service.ctx.pool.keptCount).toBe(0));
  });

  test('of a base of 10,000 files, the changed ones are stored and no others', async () => {
    const { at } = await newApp(s, null);
    const files = Array.from({ length: 10_000 }, (_, i) => ({ path: `d${i % 100}/${i}`, content: `f${i}` }));
    const { source } = await ok(s.call('POST', `${at}/sources`, { files }));
    const changed = await ok(send(at, source.id, [{ path: 'd1/1', content: 'changed' }]));
    expect(changed.source).toMatchObject({ fileCount: 10_000, byteSize: source.byteSize + 5 });
    const { manifest, manifest_base: base } = await s.service.ctx.db
      .selectFrom('sources')
      .select(['manifest', 'manifest_base'])
      .where('id', '=', changed.source.id)
      .executeTakeFirstOrThrow();
    expect([base, manifest.length < 200]).toEqual([source.id, true]);
    const packs = await s.service.ctx.db
      .selectFrom('packs')
      .select('byte_size')
      .where('project_id', '=', source.projectId)
      .orderBy('id')
      .execute();
    expect(packs.map((pack) => pack.byte_size < 200)).toEqual([false, true]);
    expect(await refusal(send(at, source.id, [{ path: 'more', content: '' }]))).toBe(
      '400 invalid_bundle /changes',
    );
  });
});

describe('refused, and nothing is stored', () => {
  test.each<[string, object[], string]>([
    ['an unknown path deleted', [{ path: 'none', content: null }], 'invalid_bundle /changes/0/path'],
    ['an unknown path renamed', [{ path: 'b', renameFrom: 'no' }], 'invalid_bundle /changes/0/renameFrom'],
    ['onto another', [...one, { path: 'n', renameFrom: 'a.txt' }], 'invalid_bundle /changes/1/path'],
    ['colliding case', [{ path: 'A.txt', content: '' }], 'invalid_bundle /changes/0/path'],
    ['a reserved folder', [{ path: '.git/config', content: '' }], 'invalid_bundle /changes/0/path'],
    ['no changes', [], 'invalid_request /changes'],
    ['a change of nothing', [{ path: 'a.txt' }], 'invalid_request /changes/0/content'],
  ])('%s', async (_, changes, expected) => {
    const { at, sourceId } = await newApp(s);
    expect(await refusal(send(at, sourceId!, changes))).toBe(`400 ${expected}`);
    expect((await ok(s.call('GET', `${at}/sources`))).sources.length).toBe(1);
  });

  test('an unknown base, or one of another app', async () => {
    const [{ at }, other] = [await newApp(s), await newApp(s)];
    for (const id of ['src_x', other.sourceId!])
      expect(await refusal(send(at, id, one))).toBe('404 source_not_found');
    await vi.waitFor(() => expect(s.service.ctx.pool.keptCount).toBe(0));
  });

  test('fields of the query, which are for archives', async () => {
    const { at, sourceId } = await newApp(s);
    const answer = s.call('POST', `${at}/sources?message=m`, { baseSourceId: sourceId, changes: one });
    expect(await refusal(answer)).toBe('400 invalid_request /query/message');
  });
});
