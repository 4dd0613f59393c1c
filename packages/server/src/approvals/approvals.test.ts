import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invited, signedIn } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_APPROVAL_TIMEOUT_SECONDS: '2' });
});
afterAll(async () => {
  await s?.close();
});

const ASK = {
  approvals: [
    { tool: 'sh', pattern: '*free*', decision: 'allow' },
    { tool: 'sh', pattern: '*never*', decision: 'deny' },
    { tool: 'sh', decision: 'ask' },
  ],
};
const asking = () => newBench(s, { settings: ASK });

async function question(b: Bench) {
  return until('a question', async () =>
    (await b.list('approvals')).find((a: { status: string }) => a.status === 'pending'),
  );
}
const answer = (b: Bench, id: string, body: object) => s.call('POST', `${b.at}/approvals/${id}`, body);

/**
 * Agents report a call as `running` before or after its question: only the order of the other events
 * counts.
 */
const withoutCalls = (words: string[]) => words.filter((w) => !/^tool\.updated:(pending|running)$/.test(w));

describe('a call that a rule asks about', () => {
  test('makes the run wait, and goes on when approved; waiting does not count', async () => {
    const b = await asking();
    let asked: { id: string; runId: string; toolId: string; createdAt: string; expiresAt: string };
    const words = await b.during(async () => {
      const { run } = await b.send(sh('echo b > b.txt'));
      asked = await question(b);
      expect(asked).toMatchObject({
        threadId: b.threadId,
        runId: run.id,
        status: 'pending',
        resolvedBy: null,
        resolvedAt: null,
      });
      expect(Date.parse(asked.expiresAt) - Date.parse(asked.createdAt)).toBe(2_000);
      expect(await b.thread()).toMatchObject({
        status: 'waiting',
        runStatus: 'waiting',
        waitingOn: [`approval:${asked.id}`],
        runActiveSegmentStartedAt: null,
      });
      const waited = await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=1`));
      const { approval } = await ok(answer(b, asked.id, { decision: 'approve' }));
      expect(approval).toMatchObject({ status: 'approved', resolvedBy: expect.stringMatching(/^sa_/) });
      const ended = await b.ended(run.id);
      expect(ended.status).toBe('completed');
      expect(ended.activeDurationMs).toBeLessThan(
        Date.parse(ended.finishedAt) - Date.parse(ended.startedAt) - 700,
      );
      expect(waited.run.status).toBe('waiting');
    });
    expect(withoutCalls(words)).toEqual([
      'message.persisted:user',
      'run.queued',
      'thread.updated:queued',
      'run.running',
      'thread.updated:running',
      'approval.requested',
      'run.waiting',
      'thread.updated:waiting',
      'approval.resolved',
      'run.running',
      'thread.updated:running',
      'tool.updated:completed',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:ready',
    ]);
    const { events } = await ok(
      s.call('GET', `${b.app}/events?limit=500&types=tool.updated,approval.requested,approval.resolved`),
    );
    const first = events.find(
      (e: { type: string; data: { id: string } }) => e.type === 'tool.updated' && e.data.id === asked!.toolId,
    );
    expect(
      events
        .filter((e: { type: string }) => e.type.startsWith('approval.'))
        .map((e: { data: object }) => e.data),
    ).toEqual([
      { id: asked!.id, sourceEventId: first.id },
      { id: asked!.id, sourceEventId: first.id },
    ]);
  });

  test('a person who answers it becomes a participant, after those who wrote; one who is too late does not', async () => {
    const b = await asking();
    const owner = await signedIn(s);
    const me = (await s.call('GET', '/api/session', undefined, { cookie: owner })).body.user.id as string;
    const [kim, lee] = [await invited(s, owner, 'member'), await invited(s, owner, 'member')];
    const by = (cookie: string, path: string, body: object) =>
      s.call('POST', `/api/threads/${b.threadId}/${path}`, body, { cookie });
    const words = await b.during(async () => {
      const { run } = await ok(by(owner, 'messages', { content: sh('echo b > b.txt') }));
      const { id } = await question(b);
      await ok(by(kim.cookie, `approvals/${id}`, { decision: 'approve' }));
      expect(await refusal(by(lee.cookie, `approvals/${id}`, { decision: 'deny' }))).toBe(
        '409 approval_resolved',
      );
      await b.ended(run.id);
    }, /^thread/);
    expect((await b.thread()).participantUserIds).toEqual([me, kim.user.id]);
    expect(words).toEqual(
      ['queued', 'running', 'waiting', 'running', 'ready'].map((is) => `thread.updated:${is}`),
    );
  });

  test('fails when denied, and the run with it', async () => {
    const b = await asking();
    const { run } = await b.send(sh('echo b > b.txt'));
    const asked = await question(b);
    expect((await ok(answer(b, asked.id, { decision: 'deny' }))).approval.status).toBe('denied');
    expect(await b.ended(run.id)).toMatchObject({ status: 'failed', error: { code: 'script_failed' } });
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools[0].status).toBe('failed');
    expect(await refusal(answer(b, asked.id, { decision: 'approve' }))).toBe('409 approval_resolved');
    expect([(await b.thread()).latestSourceId, await b.list('checkpoints')]).toEqual([b.sourceId, []]);
  });

  test('expires as denied when nobody answers in time', async () => {
    const b = await asking();
    const { run } = await b.send(sh('echo b > b.txt'));
    const asked = await question(b);
    expect((await b.ended(run.id)).status).toBe('failed');
    expect((await b.list('approvals'))[0]).toMatchObject({
      id: asked.id,
      status: 'expired',
      resolvedBy: null,
      resolvedAt: expect.any(String),
    });
    expect(await refusal(answer(b, asked.id, { decision: 'approve' }))).toBe('409 approval_resolved');
  });

  test('is answered once for the same command where the answer is remembered, in this thread only; a deny rule wins', async () => {
    const b = await asking();
    const { run } = await b.send(
      [sh('echo x >> x.txt'), sh('echo x >> x.txt'), sh('echo y >> x.txt')].join('\n\n'),
    );
    await ok(answer(b, (await question(b)).id, { decision: 'approve', remember: true }));
    const second = await until(
      'the other command',
      async () => (await b.list('approvals')).length === 2 && (await b.list('approvals'))[0],
    );
    await ok(answer(b, second.id, { decision: 'approve' }));
    const ended = await b.ended(run.id);
    expect((await b.files(ended.resultSourceId))['x.txt']).toBe('x\nx\ny\n');
    await b.work(sh('echo x >> x.txt'));
    expect((await b.list('approvals')).length).toBe(2);
    await ok(s.call('PATCH', `${b.app}/settings`, { approvals: [{ tool: 'sh', decision: 'deny' }] }));
    await b.work(sh('echo x >> x.txt'), 'failed');
  });

  test('a remembered denial denies without asking', async () => {
    const b = await asking();
    const { run } = await b.send(sh('echo no'));
    await ok(answer(b, (await question(b)).id, { decision: 'deny', remember: true }));
    await b.ended(run.id);
    await b.work(sh('echo no'), 'failed');
    expect((await b.list('approvals')).length).toBe(1);
  });

  test('is closed with its run: by a stop, its question first, and cannot be answered any more', async () => {
    const b = await asking();
    const { run } = await b.send(sh('echo b > b.txt'));
    const asked = await question(b);
    const words = await b.during(async () => {
      await ok(s.call('POST', `${b.at}/stop`, {}));
      await b.ended(run.id);
    });
    expect(words).toEqual([
      'approval.resolved',
      'tool.updated:cancelled',
      'message.persisted:assistant',
      'run.cancelled',
      'thread.updated:ready',
    ]);
    expect((await b.list('approvals'))[0].status).toBe('expired');
    expect(await refusal(answer(b, asked.id, { decision: 'approve' }))).toBe('409 approval_resolved');
  });
});

describe('rules', () => {
  test('the first that matches decides: allowed and denied calls ask nobody', async () => {
    const b = await asking();
    await b.work(sh('echo free never > b.txt'));
    await b.work(sh('echo never'), 'failed');
    expect(await b.list('approvals')).toEqual([]);
  });
});

describe('4xx', () => {
  test("404 unknown or another thread's, 400 another decision", async () => {
    const [b, other] = [await asking(), await asking()];
    const { run } = await b.send(sh('true'));
    const asked = await question(b);
    expect(await refusal(answer(other, asked.id, { decision: 'approve' }))).toBe('404 approval_not_found');
    expect(await refusal(answer(b, 'apr_x', { decision: 'approve' }))).toBe('404 approval_not_found');
    expect(await refusal(answer(b, asked.id, { decision: 'maybe' }))).toBe('400 invalid_request /decision');
    expect((await b.list('approvals'))[0].status).toBe('pending');
    await b.ended(run.id);
  });
});
