import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';
import { draftsOf, P } from './applies.fixture.ts';
import type { Draft } from './applies.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const ask = (draft: Draft, path: string, fields: object = {}) =>
  s.call(
    'POST',
    `${P}/apps/${draft.appId}/threads/${draft.threadId}/apply/preview/file`,
    { expectedSourceId: draft.sourceId, path, ...fields },
    { idem: false },
  );
const diverged = () =>
  draftsOf(s).diverged(
    { a: 'one\ntwo\nthree\n', b: 'b\n', c: 'c\n' },
    { a: 'one\nhead\nthree\n', b: 'head\n', c: 'c\n' },
    { a: 'one\ndraft\nthree\n', b: 'draft\n', c: 'draft\n' },
  );

test('a file in conflict with its sides and merged text, on the Direct path too', async () => {
  const d = await diverged();
  const { file } = await ok(ask(d, 'a'));
  expect(file).toMatchObject({
    path: 'a',
    kind: 'content',
    base: { content: 'one\ntwo\nthree\n', encoding: 'utf8', byteSize: 14, executable: false },
    head: { content: 'one\nhead\nthree\n' },
    draft: { content: 'one\ndraft\nthree\n' },
    merged: {
      content: 'one\n<<<<<<< head\nhead\n=======\ndraft\n>>>>>>> draft\nthree\n',
      regions: [{ fromLine: 2, toLine: 6 }],
    },
  });
  const direct = s.call('POST', `/api/threads/${d.threadId}/apply/preview/file`, {
    expectedSourceId: d.sourceId,
    path: 'a',
  });
  expect((await ok(direct)).file).toEqual(file);
  expect((await ok(s.call('GET', `${P}/apps/${d.appId}/applies?threadId=${d.threadId}`))).applies).toEqual(
    [],
  );
});

test('a path that is not in conflict, or no longer, is 404', async () => {
  const d = await diverged();
  for (const path of ['c', 'none']) expect(await refusal(ask(d, path))).toBe('404 file_not_found');
  const resolved = { expectedHeadSourceId: d.head, resolutions: [{ path: 'a', take: 'draft' }] };
  expect(await refusal(ask(d, 'a', resolved))).toBe('404 file_not_found');
  expect((await ok(ask(d, 'b', resolved))).file.merged.regions).toEqual([{ fromLine: 1, toLine: 5 }]);
});

test('it refuses what the preview refuses', async () => {
  const d = await diverged();
  expect(await refusal(ask({ ...d, sourceId: d.base }, 'a'))).toBe('409 stale_source');
  expect(await refusal(ask(d, 'a', { expectedHeadSourceId: d.base }))).toBe('409 stale_head');
  expect(await refusal(ask(d, 'a', { resolutions: [] }))).toBe('400 invalid_request /expectedHeadSourceId');
  const wrong = { expectedHeadSourceId: d.head, resolutions: [{ path: 'c', take: 'draft' }] };
  expect(await refusal(ask(d, 'a', wrong))).toBe('400 invalid_request /resolutions/0/path');
  expect(await refusal(ask(d, '', { clientOperationId: 'x' }))).toBe(
    '400 invalid_request /clientOperationId /path',
  );
  const at = `${P}/apps/${d.appId}/threads/${d.threadId}`;
  await ok(s.call('PATCH', at, { archived: true }));
  expect(await refusal(ask(d, 'a'))).toBe('409 thread_archived');
});
