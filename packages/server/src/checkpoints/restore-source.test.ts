import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, P, refusal, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const imported = async (b: Bench, content: string): Promise<string> =>
  (await ok(s.call('POST', `${b.app}/sources`, { files: [{ path: 'a.txt', content }] }))).source.id;
const restore = (b: Bench, sourceId: string, at = b.at) => s.call('POST', `${at}/restore`, { sourceId });

async function applied(b: Bench): Promise<string> {
  const clientOperationId = randomUUID();
  const { latestSourceId } = await b.thread();
  const { apply } = await ok(
    s.call(
      'POST',
      `${b.at}/apply`,
      { expectedSourceId: latestSourceId, clientOperationId },
      { idem: clientOperationId },
    ),
  );
  const ended = await until('the apply to end', async () => {
    const now = (await ok(s.call('GET', `${b.app}/applies/${apply.id}`))).apply;
    return now.status === 'queued' ? null : now;
  });
  expect(ended.status).toBe('applied');
  return (await ok(s.call('GET', `${b.app}/source-head`))).head.sourceId;
}

describe('202', () => {
  test('a run makes a new source with the files of a source that no checkpoint has, on every form of the path', async () => {
    const b = await newBench(s);
    const other = await imported(b, 'other\n');
    let result: { runId: string };
    const words = await b.during(async () => {
      ({ result } = await ok(restore(b, other)));
      await b.ended(result.runId);
    });
    expect(words).toEqual([
      'run.queued',
      'thread.updated:queued',
      'run.running',
      'thread.updated:running',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:ready',
    ]);
    expect(result!).toEqual({
      threadId: b.threadId,
      runId: result!.runId,
      checkpointId: null,
      sourceId: other,
      status: 'queued',
    });
    const run = await b.ended(result!.runId);
    expect(run).toMatchObject({ kind: 'restore', messageId: null, status: 'completed' });
    expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'other\n' });
    const { source } = await ok(s.call('GET', `${b.app}/sources/${run.resultSourceId}`));
    expect([source.origin, source.parentSourceIds]).toEqual(['restore', [b.sourceId, other]]);
    for (const at of [`${P}/projects/${b.appId}/threads/${b.threadId}`, `/api/threads/${b.threadId}`]) {
      const again = (await ok(restore(b, b.sourceId, at))).result;
      expect((await b.ended(again.runId)).status).toBe('completed');
    }
  });

  test('with an apply it brings an older head back', async () => {
    const b = await newBench(s);
    const { latestSourceId } = await b.thread();
    await ok(
      s.call('POST', `${b.at}/edits`, {
        expectedSourceId: latestSourceId,
        changes: [{ path: 'a.txt', content: 'newer\n' }],
      }),
    );
    expect(await b.files(await applied(b))).toEqual({ 'a.txt': 'newer\n' });
    const { thread } = await ok(s.call('POST', `${b.app}/threads`, {}));
    const back = { ...b, threadId: thread.id, at: `${b.app}/threads/${thread.id}` };
    back.thread = async () => (await ok(s.call('GET', back.at))).thread;
    const { result } = await ok(restore(back, b.sourceId));
    await until('the restore to end', async () => (await back.thread()).status === 'ready');
    const { run } = await ok(s.call('GET', `${back.at}/runs/${result.runId}`));
    expect(run.status).toBe('completed');
    expect(await b.files(await applied(back))).toEqual({ 'a.txt': 'a\n' });
  });
});

describe('4xx', () => {
  test("404 an unknown source or another app's, 400 a wrong body, 409 an archived thread: all without effect", async () => {
    const [b, other] = [await newBench(s), await newBench(s)];
    for (const sourceId of [other.sourceId, newId('src'), 'nonsense'])
      expect(await refusal(restore(b, sourceId))).toBe('404 source_not_found');
    expect(await refusal(s.call('POST', `${b.at}/restore`, {}))).toBe('400 invalid_request /sourceId');
    expect(await refusal(s.call('POST', `${b.at}/restore`, { sourceId: b.sourceId, odd: 1 }))).toBe(
      '400 invalid_request /odd',
    );
    await ok(s.call('PATCH', b.at, { archived: true }));
    expect(await refusal(restore(b, b.sourceId))).toBe('409 thread_archived');
    expect(await b.list('runs')).toEqual([]);
  });
});
