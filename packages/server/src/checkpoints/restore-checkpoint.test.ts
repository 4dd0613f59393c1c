import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

describe('202', () => {
  test("a run makes a new source with the checkpoint's files, on which the next message works", async () => {
    const b = await newBench(s);
    const first = await b.work(sh('echo 1 > n.txt'));
    const second = await b.work(sh('echo 2 > n.txt; echo more > more.txt'));
    const [, checkpoint] = await b.list('checkpoints');
    expect(checkpoint).toMatchObject({ sourceId: first.resultSourceId, kind: 'run', runId: first.id });
    let result: { threadId: string; runId: string; checkpointId: string; status: string };
    const words = await b.during(async () => {
      ({ result } = await ok(
        s.call('POST', `/api/threads/${b.threadId}/checkpoints/${checkpoint.id}/restore`, {}),
      ));
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
      checkpointId: checkpoint.id,
      status: 'queued',
    });
    const run = await b.ended(result!.runId);
    expect(run).toMatchObject({
      kind: 'restore',
      messageId: null,
      status: 'completed',
      baseSourceId: second.resultSourceId,
    });
    expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'a\n', 'n.txt': '1\n' });
    const { source } = await ok(s.call('GET', `${b.app}/sources/${run.resultSourceId}`));
    expect([source.origin, source.parentSourceIds]).toEqual([
      'restore',
      [second.resultSourceId, first.resultSourceId],
    ]);
    const next = await b.work(sh('ls > seen; cat n.txt >> seen'));
    expect((await b.files(next.resultSourceId)).seen).toBe('a.txt\nn.txt\nseen\n1\n');
  });

  test('of what a failed run had changed makes the thread ready again', async () => {
    const b = await newBench(s);
    await b.work(sh('echo lost > lost.txt; exit 1'), 'failed');
    const [checkpoint] = await b.list('checkpoints');
    const { result } = await ok(s.call('POST', `${b.at}/checkpoints/${checkpoint.id}/restore`));
    const run = await b.ended(result.runId);
    expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'a\n', 'lost.txt': 'lost\n' });
    expect(await b.thread()).toMatchObject({ status: 'ready', latestSourceId: run.resultSourceId });
  });
});

describe('4xx', () => {
  test("404 another thread's checkpoint, 400 a wrong body, both without effect", async () => {
    const [b, other] = [await newBench(s), await newBench(s)];
    await b.work(sh('echo 1 > n.txt'));
    const [checkpoint] = await b.list('checkpoints');
    expect(await refusal(s.call('POST', `${other.at}/checkpoints/${checkpoint.id}/restore`, {}))).toBe(
      '404 checkpoint_not_found',
    );
    expect(
      await refusal(
        s.call('POST', `${b.at}/checkpoints/${checkpoint.id}/restore`, { clientOperationId: 'x'.repeat(65) }),
      ),
    ).toBe('400 invalid_request /clientOperationId /clientOperationId');
    expect(
      await refusal(
        s.call('POST', `${b.at}/checkpoints/${checkpoint.id}/restore`, { clientOperationId: 'not the key' }),
      ),
    ).toBe('400 invalid_request /clientOperationId');
    expect([(await other.list('runs')).length, (await b.list('runs')).length]).toEqual([0, 1]);
  });
});
