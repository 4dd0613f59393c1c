import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
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

describe('the list', () => {
  test('is oldest first or newest first, page by page; a cursor holds for its order', async () => {
    const b = await newBench(s);
    for (let i = 0; i < 2; i++) await b.work('Nothing to do.');
    const at = `${b.at}/messages`;
    const paged = async (query: string) => {
      const first = await ok(s.call('GET', `${at}?limit=3${query}`));
      const rest = await ok(s.call('GET', `${at}?limit=3${query}&cursor=${first.nextCursor}`));
      expect([first.hasMore, rest.hasMore, rest.nextCursor]).toEqual([true, false, null]);
      return [...first.messages, ...rest.messages].map((m: { sequence: number }) => m.sequence);
    };
    expect(await paged('')).toEqual([1, 2, 3, 4]);
    expect(await paged('&order=asc')).toEqual([1, 2, 3, 4]);
    expect(await paged('&order=desc')).toEqual([4, 3, 2, 1]);
    const cursorOf = async (query: string) =>
      (await ok(s.call('GET', `${at}?limit=1${query}`))).nextCursor as string;
    const [asc, desc] = [await cursorOf(''), await cursorOf('&order=desc')];
    expect((await s.call('GET', `${at}?order=asc&cursor=${asc}`)).status).toBe(200);
    for (const query of [`order=desc&cursor=${asc}`, `cursor=${desc}`, `order=asc&cursor=${desc}`])
      expect(await refusal(s.call('GET', `${at}?${query}`))).toBe('400 invalid_cursor');
    for (const order of ['up', '', 'DESC'])
      expect((await s.call('GET', `${at}?order=${order}`)).body.error.fields[0].path).toBe('/query/order');
  });
});

describe('201', () => {
  test('saves the message, queues its run and publishes both in one', async () => {
    const b = await newBench(s);
    let sent: Awaited<ReturnType<typeof b.send>>;
    const words = await b.during(async () => {
      sent = await b.send('Hello.');
      expect(sent).toMatchObject({
        ok: true,
        message: {
          threadId: b.threadId,
          role: 'user',
          content: 'Hello.',
          runId: sent.run.id,
          sequence: 1,
          clientMessageId: null,
        },
        run: {
          status: 'queued',
          kind: 'message',
          messageId: sent.message.id,
          modelId: 'scripted',
          agent: 'scripted',
          startedAt: null,
        },
      });
      await b.ended(sent.run.id);
    });
    expect(words).toEqual([
      'message.persisted:user',
      'run.queued',
      'thread.updated:queued',
      'run.running',
      'thread.updated:running',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:ready',
    ]);
    expect((await b.thread()).latestUserMessageAt).toBe(sent!.message.createdAt);
  });

  test('behind an active run it waits its turn: the thread does not change, runs go in order', async () => {
    const b = await newBench(s);
    const { run: first } = await b.send(
      sh(
        'echo 1 >> log.txt; while [ ! -e ../tmp/x ] && [ ! -e go ]; do sleep 0.05; i=$((i+1)); [ $i -lt 20 ] || break; done',
      ),
    );
    await b.working(first.id);
    const version = (await b.thread()).version;
    const [second, third] = [await b.send(sh('echo 2 >> log.txt')), await b.send(sh('echo 3 >> log.txt'))];
    expect(await b.thread()).toMatchObject({
      version,
      status: 'running',
      latestRunId: first.id,
      pendingWakeups: 2,
      runStatus: 'running',
      runSteerable: false,
    });
    const last = await b.ended(third.run.id);
    expect((await b.files(last.resultSourceId))['log.txt']).toBe('1\n2\n3\n');
    expect((await b.list('runs')).map((r: { id: string }) => r.id)).toEqual([
      third.run.id,
      second.run.id,
      first.id,
    ]);
    expect(
      (await b.list('messages')).map((m: { role: string; sequence: number }) => `${m.role} ${m.sequence}`),
    ).toEqual(['user 1', 'user 2', 'user 3', 'assistant 4', 'assistant 5', 'assistant 6']);
  });

  test('clientMessageId is the key; its retry sends nothing twice; another text under it is refused', async () => {
    const b = await newBench(s);
    const idem = randomUUID();
    const send = (content: string) =>
      s.call('POST', `${b.at}/messages`, { content, clientMessageId: idem }, { idem });
    const [first, again] = [await send('One.'), await send('One.')];
    expect([first.status, again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      first.text,
      'true',
    ]);
    expect(first.body.message.clientMessageId).toBe(idem);
    expect(await refusal(send('Two.'))).toBe('409 idempotency_conflict');
    expect(
      await refusal(s.call('POST', `${b.at}/messages`, { content: 'x', clientMessageId: 'other' })),
    ).toBe('400 invalid_request /clientMessageId');
    expect((await b.list('messages')).filter((m: { role: string }) => m.role === 'user').length).toBe(1);
  });

  test('a session that writes takes part in the thread', async () => {
    const b = await newBench(s);
    const cookie = await signedIn(s);
    const { user } = (await s.call('GET', '/api/session', undefined, { cookie })).body;
    for (let i = 0; i < 2; i++)
      expect(
        (await s.call('POST', `/api/threads/${b.threadId}/messages`, { content: 'Hi.' }, { cookie })).status,
      ).toBe(201);
    expect((await b.thread()).participantUserIds).toEqual([user.id]);
  });

  test('up to ten attachments; answers show their types and sizes', async () => {
    const b = await newBench(s);
    const attachment = { mediaType: 'image/png', data: 'iVBORw0KGgo=' };
    const { message } = await b.send('Look.', { attachments: Array.from({ length: 10 }, () => attachment) });
    expect(message.attachments).toEqual(
      Array.from({ length: 10 }, (_, index) => ({ index, mediaType: 'image/png', byteSize: 8 })),
    );
    expect((await b.list('messages'))[0]).toEqual(message);
    expect(
      await refusal(
        s.call('POST', `${b.at}/messages`, {
          content: 'x',
          attachments: Array.from({ length: 11 }, () => attachment),
        }),
      ),
    ).toBe('400 invalid_request /attachments');
    expect(
      await refusal(
        s.call('POST', `${b.at}/messages`, {
          content: 'x',
          attachments: [attachment, { mediaType: 'png', data: 'i' }],
        }),
      ),
    ).toBe('400 invalid_request /attachments/1/mediaType /attachments/1/data');
  });

  test('a model that is not configured here is admitted; its run fails so', async () => {
    const b = await newBench(s);
    const { run } = await b.send('Hello.', { modelId: 'nobody/nothing' });
    expect(await b.ended(run.id)).toMatchObject({
      status: 'failed',
      modelId: 'nobody/nothing',
      error: { code: 'not_configured' },
    });
  });
});

describe('4xx', () => {
  test('lengths count code points', async () => {
    const b = await newBench(s);
    expect((await s.call('POST', `${b.at}/messages`, { content: '😀'.repeat(100_000) })).status).toBe(201);
    expect(await refusal(s.call('POST', `${b.at}/messages`, { content: 'x'.repeat(100_001) }))).toBe(
      '400 invalid_request /content',
    );
    expect(await refusal(s.call('POST', `${b.at}/messages`, { content: '' }))).toBe(
      '400 invalid_request /content',
    );
    expect(await refusal(s.call('POST', `${b.at}/messages`, '{"content":"a\\ud800"}'))).toMatch(/^400/);
  });

  test('without a key 400; on an unknown thread 404', async () => {
    const b = await newBench(s);
    expect(await refusal(s.call('POST', `${b.at}/messages`, { content: 'x' }, { idem: false }))).toBe(
      '400 idempotency_key_required /headers/idempotency-key',
    );
    expect(await refusal(s.call('POST', `${b.app}/threads/thr_x/messages`, { content: 'x' }))).toBe(
      '404 thread_not_found',
    );
    expect((await ok(s.call('GET', `${b.at}/messages`))).messages).toEqual([]);
  });
});
