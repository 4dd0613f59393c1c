import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { sh, until } from '../threads/threads.fixture.ts';
import { draftsOf, holdMerges, P } from './applies.fixture.ts';

let server: TestServer;
let d: ReturnType<typeof draftsOf>;
beforeAll(async () => {
  server = await startTestServer();
  d = draftsOf(server);
});
afterAll(() => server.close());

const NOWHERE = 'src_01kaefgh00e1x9y6w2vq5r3t7n';
const codeOf = ({ status, body }: TestAnswer) => [status, body.error?.code];
const pathsOf = ({ status, body }: TestAnswer) => [
  status,
  body.error?.fields?.map((f: { path: string }) => f.path),
];
const clash = () =>
  d.diverged(
    { a: 'base\n', 'd/x': 'base\n' },
    { a: 'head\n', 'd/x': 'head\n' },
    { a: 'draft\n', 'd/x': 'draft\n', n: 'n\n' },
  );
const preview = (draft: { appId: string; threadId: string; sourceId: string }, fields = {}) =>
  server.call(
    'POST',
    `${P}/apps/${draft.appId}/threads/${draft.threadId}/apply/preview`,
    { expectedSourceId: draft.sourceId, ...fields },
    { idem: false },
  );

describe('202', () => {
  test('queues with every field', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const draft = await d.draft(appId, sourceId, { b: 'b\n' });
    const answer = await d.send(draft);
    expect(answer.status).toBe(202);
    expect(answer.body.apply).toEqual({
      id: expect.stringMatching(/^apl_/),
      sequence: 1,
      conflictResolution: 'agent',
      repairs: [],
      orgId: expect.stringMatching(/^org_/),
      projectId: appId,
      threadId: draft.threadId,
      baseSourceId: sourceId,
      draftSourceId: draft.sourceId,
      headSourceId: null,
      resultSourceId: null,
      expectedHeadSourceId: null,
      resolutions: [],
      status: 'queued',
      conflicts: [],
      error: null,
      createdByUserId: expect.stringMatching(/^sa_/),
      createdAt: expect.any(String),
      finishedAt: null,
    });
    await d.ended(appId, answer.body.apply.id);
  });

  test('a retry is the same apply, also by the project form and after its end', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const draft = await d.draft(appId, sourceId, { b: 'b\n' });
    const idem = randomUUID();
    const first = await d.send(draft, {}, idem);
    await d.ended(appId, first.body.apply.id);
    const again = await server.call(
      'POST',
      `${P}/projects/${appId}/threads/${draft.threadId}/apply`,
      { expectedSourceId: draft.sourceId, clientOperationId: idem },
      { idem },
    );
    expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([
      202,
      'true',
      first.text,
    ]);
    expect((await d.head(appId)).revision).toBe(2);
  });

  test('a retry of a resolved apply is replayed although its head is gone', async () => {
    const draft = await clash();
    const fields = {
      expectedHeadSourceId: draft.head,
      resolutions: [
        { path: 'a', take: 'head' },
        { path: 'd/', take: 'draft' },
      ],
    };
    const idem = randomUUID();
    const first = await d.send(draft, fields, idem);
    expect((await d.ended(draft.appId, first.body.apply.id)).status).toBe('applied');
    const again = await d.send(draft, fields, idem);
    expect([again.status, again.text]).toEqual([202, first.text]);
  });

  test('the Direct API takes it too', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const draft = await d.draft(appId, sourceId, { b: 'b\n' });
    const idem = randomUUID();
    const answer = await server.call(
      'POST',
      `/api/threads/${draft.threadId}/apply`,
      { expectedSourceId: draft.sourceId, clientOperationId: idem },
      { idem },
    );
    expect(answer.status).toBe(202);
    expect((await d.ended(appId, answer.body.apply.id)).status).toBe('applied');
  });
});

describe('400', () => {
  test('resolutions need the head that they were made for', async () => {
    const draft = await clash();
    expect(pathsOf(await d.send(draft, { resolutions: [{ path: 'a', take: 'head' }] }))).toEqual([
      400,
      ['/expectedHeadSourceId'],
    ]);
    expect(pathsOf(await preview(draft, { resolutions: [{ path: 'a', take: 'head' }] }))).toEqual([
      400,
      ['/expectedHeadSourceId'],
    ]);
  });

  test('every resolution that the merge has no use for is named by its place, for preview and apply alike', async () => {
    const draft = await clash();
    const fields = {
      expectedHeadSourceId: draft.head,
      resolutions: [
        { path: 'a', take: 'head' },
        { path: 'A', take: 'head' },
        { path: 'n', take: 'draft' },
        { path: 'a', take: 'draft' },
        { path: 'e/', take: 'head' },
      ],
    };
    const paths = [1, 2, 3, 4].map((i) => `/resolutions/${i}/path`);
    expect(pathsOf(await d.send(draft, fields))).toEqual([400, paths]);
    expect(pathsOf(await preview(draft, fields))).toEqual([400, paths]);
    const list = await server.call('GET', `${P}/apps/${draft.appId}/applies?threadId=${draft.threadId}`);
    expect(list.body.applies).toEqual([]);
  });

  test('the key may be used again', async () => {
    const draft = await clash();
    const idem = randomUUID();
    const fields = (path: string) => ({
      expectedHeadSourceId: draft.head,
      resolutions: [{ path, take: 'head' }],
      conflictResolution: 'manual',
    });
    expect((await d.send(draft, fields('nowhere'), idem)).status).toBe(400);
    expect((await d.send(draft, fields('a'), idem)).status).toBe(202);
  });
});

describe('401, 403, 404', () => {
  test('unknown things are told by name', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const draft = await d.draft(appId, sourceId, { b: 'b\n' });
    const other = await d.app({ a: 'a\n' });
    expect(codeOf(await d.send({ ...draft, threadId: 'thr_01kaefgh00e1x9y6w2vq5r3t7n' }))).toEqual([
      404,
      'thread_not_found',
    ]);
    expect(codeOf(await d.send({ ...draft, appId: other.appId }))).toEqual([404, 'thread_not_found']);
    for (const expectedSourceId of [NOWHERE, other.sourceId])
      expect(codeOf(await d.send(draft, { expectedSourceId }))).toEqual([404, 'source_not_found']);
    expect(
      codeOf(await server.call('GET', `${P}/apps/${appId}/applies/apl_01kaefgh00e1x9y6w2vq5r3t7n`)),
    ).toEqual([404, 'apply_not_found']);
    expect(
      codeOf(await server.call('GET', `${P}/apps/${appId}/applies?threadId=thr_01kaefgh00e1x9y6w2vq5r3t7n`)),
    ).toEqual([404, 'thread_not_found']);
    expect(
      (await server.call('POST', `${P}/apps/${appId}/threads/${draft.threadId}/apply`, {}, { key: null }))
        .status,
    ).toBe(401);
  });
});

describe('409', () => {
  test('archived, sealed, stale and headless, for preview and apply alike', async () => {
    const both = async (draft: Parameters<typeof d.send>[0], fields = {}) =>
      [await d.send(draft, fields), await preview(draft, fields)].map((a) => a.body.error.code);
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const draft = await d.draft(appId, sourceId, { b: 'b\n' });
    expect(await both(draft, { expectedSourceId: sourceId })).toEqual(['stale_source', 'stale_source']);
    expect(await both(draft, { expectedHeadSourceId: NOWHERE })).toEqual(['stale_head', 'stale_head']);
    expect(
      await both(draft, {
        expectedHeadSourceId: draft.sourceId,
        resolutions: [{ path: 'nowhere', take: 'head' }],
      }),
    ).toEqual(['stale_head', 'stale_head']);
    await d.finish(draft);
    expect(await both(draft)).toEqual(['draft_sealed', 'draft_sealed']);
    await server.call('PATCH', `/api/threads/${draft.threadId}`, { archived: true });
    expect(await both(draft)).toEqual(['thread_archived', 'thread_archived']);
  });

  test('a thread that is busy says with what, to preview and apply alike', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const draft = await d.draft(appId, sourceId, { b: 'b\n' });
    const both = async () =>
      [await d.send(draft), await preview(draft)].map(({ status, body }) => [
        status,
        body.error.code,
        body.error.reason,
      ]);
    const busy = (reason: string) => [1, 2].map(() => [409, 'thread_busy', reason]);
    const at = `${P}/apps/${appId}/threads/${draft.threadId}`;
    expect((await server.call('POST', `${at}/messages`, { content: sh('sleep 60') })).status).toBe(201);
    expect(await both()).toEqual(busy('run'));
    await server.call('POST', `${at}/stop`, {});
    await until('the thread to be idle', async () => (await preview(draft)).status === 200);
    const { build } = (
      await server.call('POST', `${at}/builds`, { command: 'sleep 60', outputDirectory: '.' })
    ).body;
    expect(await both()).toEqual(busy('build'));
    await server.call('POST', `${P}/apps/${appId}/builds/${build.id}/cancel`, {});
    await until('the thread to be idle', async () => (await preview(draft)).status === 200);
    const moved = await d.finish(await d.draft(appId, sourceId, { c: 'c\n' }));
    const merges = holdMerges(server);
    const { id } = await d.queue(draft);
    await merges.begun();
    expect(await both()).toEqual(busy('apply'));
    merges.release();
    expect(await d.ended(appId, id)).toMatchObject({ status: 'applied', headSourceId: moved.resultSourceId });
  });

  test('without a head', async () => {
    const appId = (await server.call('POST', `${P}/apps`, { name: 'Headless' })).body.app.id;
    const { source } = (await server.call('POST', `${P}/apps/${appId}/sources`, { files: [] })).body;
    expect(codeOf(await d.send(await d.draft(appId, source.id, { a: 'a' })))).toEqual([
      409,
      'head_not_initialized',
    ]);
  });

  test('a source of a sibling thread is stale, not unknown', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const [one, two] = [
      await d.draft(appId, sourceId, { b: 'b\n' }),
      await d.draft(appId, sourceId, { c: 'c\n' }),
    ];
    expect(codeOf(await d.send(one, { expectedSourceId: two.sourceId }))).toEqual([409, 'stale_source']);
  });
});

describe('preview', () => {
  test('shows what the apply then changes', async () => {
    const draft = await clash();
    const shown = await preview(draft);
    expect(shown.body.preview).toMatchObject({
      headSourceId: draft.head,
      status: 'conflicted',
      conflicts: [
        { path: 'a', kind: 'content', hunks: [{ base: ['base'], head: ['head'], draft: ['draft'] }] },
        { path: 'd/x', kind: 'content' },
      ],
    });
    const fields = {
      expectedHeadSourceId: draft.head,
      resolutions: [
        { path: 'a', take: 'head' },
        { path: 'd/', take: 'draft' },
      ],
    };
    const resolved = await preview(draft, fields);
    expect(resolved.body.preview).toMatchObject({ status: 'clean', conflicts: [] });
    const apply = await d.finish(draft, fields);
    const diff = await server.call(
      'GET',
      `${P}/apps/${draft.appId}/sources/${apply.resultSourceId}/diff?base=${draft.head}`,
    );
    expect(diff.body.diff.files).toEqual(resolved.body.preview.changes);
  });
});
