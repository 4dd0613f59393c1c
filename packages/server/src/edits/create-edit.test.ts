import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const edit = (b: Bench, changes: object[], fields: object = {}, idem: string = randomUUID()) =>
  s.call('POST', `${b.at}/edits`, { expectedSourceId: b.sourceId, changes, ...fields }, { idem });

describe('201', () => {
  test('all changes in order in one new source with a checkpoint; the thread moves to it', async () => {
    const b = await newBench(s, { files: { 'a.txt': 'a\n', 'old.txt': 'old\n', 'gone.txt': 'gone\n' } });
    let source: { id: string };
    const words = await b.during(async () => {
      ({ source } = await ok(
        edit(
          b,
          [
            { path: 'a.txt', content: 'A\n' },
            { path: 'gone.txt', content: null },
            { path: 'new.txt', renameFrom: 'old.txt' },
            { path: 'run', content: 'IyE=', encoding: 'base64', executable: true },
          ],
          { message: 'Why' },
        ),
      ));
    });
    expect(words).toEqual(['platform.source.imported', 'checkpoint.created']);
    expect(source!).toMatchObject({
      origin: 'edit',
      threadId: b.threadId,
      runId: null,
      parentSourceIds: [b.sourceId],
      message: 'Why',
      fileCount: 3,
    });
    expect(await b.files(source!.id)).toEqual({ 'a.txt': 'A\n', 'new.txt': 'old\n', run: '#!' });
    expect(await b.thread()).toMatchObject({
      latestSourceId: source!.id,
      sourceId: b.sourceId,
      status: 'ready',
    });
    expect((await b.list('checkpoints'))[0]).toMatchObject({
      kind: 'edit',
      runId: null,
      sourceId: source!.id,
    });
    const run = await b.work(sh('ls > seen'));
    expect((await b.files(run.resultSourceId)).seen).toBe('a.txt\nnew.txt\nrun\nseen\n');
  });

  test('makes a failed thread ready, and tells so', async () => {
    const b = await newBench(s);
    await b.work(sh('exit 1'), 'failed');
    expect(await b.during(() => ok(edit(b, [{ path: 'b.txt', content: 'b' }])))).toEqual([
      'platform.source.imported',
      'checkpoint.created',
      'thread.updated:ready',
    ]);
  });

  test('a retry replays it', async () => {
    const b = await newBench(s);
    const idem = randomUUID();
    const first = await edit(b, [{ path: 'b', content: 'b' }], {}, idem);
    const again = await edit(b, [{ path: 'b', content: 'b' }], {}, idem);
    expect([first.status, again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      first.text,
      'true',
    ]);
    expect(await refusal(edit(b, [{ path: 'c', content: 'c' }], {}, idem))).toBe('409 idempotency_conflict');
  });
});

describe('400, and nothing is changed', () => {
  test.each([
    ['an unknown path deleted', [{ path: 'none', content: null }], 'invalid_bundle /changes/0/path'],
    ['an unknown path renamed', [{ path: 'b', renameFrom: 'none' }], 'invalid_bundle /changes/0/renameFrom'],
    [
      'onto an existing one',
      [
        { path: 'b', content: 'b' },
        { path: 'd.txt', renameFrom: 'a.txt' },
      ],
      'invalid_bundle /changes/1/path',
    ],
    [
      'a path twice',
      [
        { path: 'b', content: 'b' },
        { path: 'b', content: 'c' },
      ],
      'invalid_bundle /changes/1/path',
    ],
    ['a reserved folder', [{ path: '.git/config', content: '' }], 'invalid_bundle /changes/0/path'],
    ['a path to the outside', [{ path: '../a', content: '' }], 'invalid_bundle /changes/0/path'],
    ['colliding case', [{ path: 'A.txt', content: '' }], 'invalid_bundle /changes/0/path'],
    ['no base64', [{ path: 'b', content: 'b', encoding: 'base64' }], 'invalid_bundle /changes/0/content'],
    ['nothing to do', [], 'invalid_request /changes'],
    ['an unknown member', [{ path: 'b', content: 'b', mode: 1 }], 'invalid_request /changes/0/mode'],
  ])('%s', async (_, changes, expected) => {
    const b = await newBench(s, { files: { 'a.txt': 'a\n', 'd.txt': 'd\n' } });
    const refused = await refusal(edit(b, changes));
    expect(refused.startsWith(`400 ${expected}`) || refused).toBe(true);
    expect([(await b.thread()).latestSourceId, await b.list('checkpoints')]).toEqual([b.sourceId, []]);
  });
});

describe('404 and 409', () => {
  test('stale, unknown and foreign sources', async () => {
    const [b, other] = [await newBench(s), await newBench(s)];
    await ok(edit(b, [{ path: 'b', content: 'b' }]));
    expect(await refusal(edit(b, [{ path: 'c', content: 'c' }]))).toBe('409 stale_source');
    expect(await refusal(edit(b, [{ path: 'c', content: 'c' }], { expectedSourceId: other.sourceId }))).toBe(
      '404 source_not_found',
    );
  });

  test('busy with a run: refused, and the key is free for later', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    const idem = randomUUID();
    expect(await refusal(edit(b, [{ path: 'b', content: 'b' }], {}, idem))).toBe('409 thread_busy run');
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
    expect((await edit(b, [{ path: 'b', content: 'b' }], {}, idem)).status).toBe(201);
  });

  test('of an app that is deleted while the files are stored: the same answer as afterwards, at both addresses', async () => {
    const { ctx } = s.service;
    const { store } = ctx;
    for (const [api, refused] of [
      ['platform', '404 app_not_found'],
      ['direct', '404 thread_not_found'],
    ]) {
      const b = await newBench(s);
      ctx.store = Object.assign(Object.create(store) as typeof store, {
        put: async (...args: Parameters<typeof store.put>) => {
          ctx.store = store;
          await ok(s.call('DELETE', b.app));
          return store.put(...args);
        },
      });
      const at = api === 'direct' ? `/api/threads/${b.threadId}` : b.at;
      const body = { expectedSourceId: b.sourceId, changes: [{ path: 'b', content: 'b' }] };
      expect(await refusal(s.call('POST', `${at}/edits`, body))).toBe(refused);
    }
  });

  test('of two at once, one is stored', async () => {
    const b = await newBench(s);
    const answers = await Promise.all([
      edit(b, [{ path: 'b', content: 'b' }]),
      edit(b, [{ path: 'c', content: 'c' }]),
    ]);
    expect(answers.map((a) => a.status).toSorted()).toEqual([201, 409]);
    expect((await b.list('checkpoints')).length).toBe(1);
  });
});
