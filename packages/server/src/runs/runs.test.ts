import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh, until } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const ACCEPTED = ['message.persisted:user', 'run.queued', 'thread.updated:queued'];
const STARTED = ['run.running', 'thread.updated:running'];
const TOOL = ['tool.updated:pending', 'tool.updated:running'];

/** A tool call is recorded with the status that it has when it is first seen. */
const withoutPending = (words: string[]) => words.filter((w) => w !== 'tool.updated:pending');

describe('a completed run', () => {
  test('has a result, a checkpoint, a reply and its tool call; published row by row', async () => {
    const b = await newBench(s);
    const words = await b.during(() => b.work(sh('echo b > b.txt; echo said')));
    expect(withoutPending(words)).toEqual([
      ...ACCEPTED,
      ...STARTED,
      ...withoutPending(TOOL),
      'tool.updated:completed',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:ready',
    ]);
    const [run] = await b.list('runs');
    expect(run).toMatchObject({
      status: 'completed',
      error: null,
      baseSourceId: b.sourceId,
      warnings: [],
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costMicros: 0 },
    });
    expect(run.activeDurationMs).toBeGreaterThan(0);
    expect(run.activeDurationMs).toBeLessThanOrEqual(
      Date.parse(run.finishedAt) - Date.parse(run.startedAt) + 1,
    );
    const { source } = await ok(s.call('GET', `${b.app}/sources/${run.resultSourceId}`));
    expect(source).toMatchObject({
      origin: 'run',
      threadId: b.threadId,
      runId: run.id,
      parentSourceIds: [b.sourceId],
    });
    expect((await b.list('checkpoints')).map((c: object) => c)).toMatchObject([
      { kind: 'run', runId: run.id, sourceId: run.resultSourceId },
    ]);
    const [tool] = (await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools;
    expect(tool).toMatchObject({
      name: 'sh',
      status: 'completed',
      input: { command: 'echo b > b.txt; echo said\n' },
      truncated: false,
      runId: run.id,
    });
    expect(tool.output).toContain('said');
    expect(await b.thread()).toMatchObject({
      sourceId: b.sourceId,
      latestSourceId: run.resultSourceId,
      latestRunId: run.id,
      runStatus: 'completed',
      runActiveDurationProvenance: 'accounted',
    });
  });

  test('lists its tool calls in the order of their start, or the newest first; a cursor holds for its order', async () => {
    const b = await newBench(s);
    const run = await b.work([1, 2, 3].map((n) => sh(`true ${n}`)).join('\n'));
    const at = `${b.at}/runs/${run.id}/tools`;
    const listed = async (query: string) => {
      const { tools, nextCursor } = await ok(s.call('GET', `${at}?${query}`));
      const commands = tools.map((tool: { input: { command: string } }) => tool.input.command);
      return { commands, cursor: nextCursor as string };
    };
    const all = [1, 2, 3].map((n) => `true ${n}\n`);
    for (const [order, wanted] of [
      ['', all],
      ['&order=asc', all],
      ['&order=desc', all.toReversed()],
    ] as const) {
      const { commands, cursor } = await listed(`limit=2${order}`);
      expect([...commands, ...(await listed(`limit=2${order}&cursor=${cursor}`)).commands]).toEqual(wanted);
      const other = order === '&order=desc' ? '' : '&order=desc';
      expect(await refusal(s.call('GET', `${at}?limit=2${other}&cursor=${cursor}`))).toBe(
        '400 invalid_cursor',
      );
    }
  });

  test('line and paragraph separators are text like any other: in the message, the command, the files and the reply', async () => {
    const b = await newBench(s);
    const text = 'a\u2028b\u2029c';
    const run = await b.work(`${text}\n${sh(`printf '%s' '${text}' | tee said.txt`)}`);
    expect((await b.files(run.resultSourceId))['said.txt']).toBe(text);
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools[0].output).toContain(text);
  });

  test('without a change its result is its base', async () => {
    const b = await newBench(s);
    expect(await b.work(sh('true'))).toMatchObject({ resultSourceId: b.sourceId, baseSourceId: b.sourceId });
    expect((await b.thread()).latestSourceId).toBe(b.sourceId);
    expect((await b.list('checkpoints'))[0].sourceId).toBe(b.sourceId);
  });

  test('warns of what the capture left out', async () => {
    const b = await newBench(s);
    const run = await b.work(
      sh('ln -s a.txt link; mkdir -p node_modules/x; echo x > node_modules/x/y; echo kept > kept.txt'),
    );
    expect(run.warnings.map((w: { path: string }) => w.path).sort()).toEqual([
      expect.stringMatching(/^link$/),
      expect.stringMatching(/^node_modules/),
    ]);
    expect(Object.keys(await b.files(run.resultSourceId))).toEqual(['a.txt', 'kept.txt']);
  });

  test('output with NUL, broken UTF-8 and too much of it is kept as text, cut', async () => {
    const b = await newBench(s);
    const run = await b.work(sh(`printf 'a\\000b\\377'; head -c 200000 /dev/zero | tr '\\0' x`));
    const [tool] = (await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools;
    expect(tool.output.startsWith('a\u{fffd}b\u{fffd}xxx')).toBe(true);
    expect([tool.truncated, Buffer.byteLength(tool.output) <= 64 * 1024]).toEqual([true, true]);
  });
});

describe('a failed run', () => {
  test('keeps what had changed as a recovery source and puts the workspace back; what no source holds stays', async () => {
    const b = await newBench(s, { files: { 'a.txt': 'a\n', '.gitignore': 'cache\n' } });
    const words = await b.during(() =>
      b.work(sh('echo lost > lost.txt; rm a.txt; echo c > cache; exit 3'), 'failed'),
    );
    expect(withoutPending(words)).toEqual([
      ...ACCEPTED,
      ...STARTED,
      'tool.updated:running',
      'tool.updated:failed',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.failed',
      'thread.updated:failed',
    ]);
    const [run] = await b.list('runs');
    expect([run.resultSourceId, run.error.code, (await b.thread()).latestSourceId]).toEqual([
      null,
      'script_failed',
      b.sourceId,
    ]);
    const [saved] = await b.list('checkpoints');
    expect([saved.kind, saved.runId, await b.files(saved.sourceId)]).toEqual([
      'recovery',
      run.id,
      { '.gitignore': 'cache\n', 'lost.txt': 'lost\n' },
    ]);
    const next = await b.work(sh('ls > seen; cat cache >> seen'));
    expect((await b.files(next.resultSourceId)).seen).toBe('a.txt\ncache\nseen\nc\n');
  });

  test('that changed nothing leaves no recovery source', async () => {
    const b = await newBench(s);
    await b.work(sh('exit 1'), 'failed');
    expect(await b.list('checkpoints')).toEqual([]);
  });

  const BAD_NAMES = `for name in 'bad\\377' 'tab\\t' 'back\\\\slash' A.txt; do echo bad > "$(printf "$name")"; done`;
  const isBad = ({ path }: { path: string }) => ['bad\ufffd', 'tab\t', 'back\\slash', 'A.txt'].includes(path);

  test('for names that no source can hold: names them, keeps the rest, and removes them all', async () => {
    const b = await newBench(s);
    const run = await b.work(sh(`echo ok > ok.txt; ln -s ok.txt link; ${BAD_NAMES}`), 'failed');
    expect(run.error).toEqual({
      code: 'invalid_result',
      message:
        'The result breaks a rule for sources: bad\ufffd: must be UTF-8; back\\slash: must not contain a backslash; ' +
        'tab\\u0009: must not contain control characters; A.txt: is the path of an earlier file (ignoring case)',
    });
    expect([run.warnings.length, run.warnings.filter(isBad).length]).toEqual([5, 4]);
    const [saved] = await b.list('checkpoints');
    expect([saved.kind, await b.files(saved.sourceId)]).toEqual([
      'recovery',
      { 'a.txt': 'a\n', 'ok.txt': 'ok\n' },
    ]);
    const next = await b.work(sh('ls > seen'));
    expect((await b.files(next.resultSourceId)).seen).toBe('a.txt\nlink\nseen\n');
  });

  test('for another reason keeps what can be held, and warns of the rest', async () => {
    const b = await newBench(s);
    const run = await b.work(sh(`echo ok > ok.txt; ${BAD_NAMES}; exit 3`), 'failed');
    expect([run.error.code, run.warnings.filter(isBad).length]).toEqual(['script_failed', 4]);
    const [saved] = await b.list('checkpoints');
    expect(await b.files(saved.sourceId)).toEqual({ 'a.txt': 'a\n', 'ok.txt': 'ok\n' });
    await b.work(sh(BAD_NAMES), 'failed');
    expect(await b.list('checkpoints')).toHaveLength(1);
  });

  test('whose result exceeds a limit: invalid_result names it, and nothing of it stays', async () => {
    const b = await newBench(s);
    const run = await b.work(sh('head -c 8388609 /dev/zero > big.bin; echo ok > ok.txt'), 'failed');
    expect([run.error.code, run.error.message.includes('big.bin')]).toEqual(['invalid_result', true]);
    expect(await b.list('checkpoints')).toEqual([]);
    const next = await b.work(sh('ls > seen'));
    expect((await b.files(next.resultSourceId)).seen).toBe('a.txt\nseen\n');
  });

  test('does not hold up the run behind it; a later run that is stopped makes the thread ready', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 0.5; exit 1'));
    const { run: second } = await b.send(sh('sleep 60'));
    await b.ended(run.id);
    await b.working(second.id);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    expect((await b.ended(second.id)).status).toBe('cancelled');
    expect((await b.thread()).status).toBe('ready');
  });

  test('under a spent limit nothing is asked of a model that has a price', async () => {
    const b = await newBench(s, { thread: { spendLimitMicros: 0 } });
    const { run } = await b.send('Hello.', { modelId: 'anthropic/some' });
    expect((await b.ended(run.id)).error.code).toBe('spend_limit_reached');
    expect((await b.work('Hello.')).status).toBe('completed');
  });
});

describe('stop', () => {
  test('cancels within two seconds, puts back, and keeps what had changed', async () => {
    const b = await newBench(s);
    const { run } = await b.send(`${sh('echo half > half.txt')}\n${sh('sleep 60')}`);
    await b.working(run.id, 1);
    const words = await b.during(async () => {
      const at = Date.now();
      expect((await ok(s.call('POST', `${b.at}/stop`, {}))).run.id).toBe(run.id);
      expect((await b.thread()).stopRequestedAt).not.toBe(null);
      expect((await b.ended(run.id)).status).toBe('cancelled');
      expect(Date.now() - at).toBeLessThan(2_000);
    });
    expect(words).toEqual([
      'tool.updated:cancelled',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.cancelled',
      'thread.updated:ready',
    ]);
    expect((await b.list('messages')).at(-1).content).toContain('[interrupted]');
    const next = await b.work(sh('ls > seen'));
    expect((await b.files(next.resultSourceId)).seen).toBe('a.txt\nseen\n');
    expect((await b.thread()).stopRequestedAt).toBe(null);
  });

  test('cancels the queued ones at once, without replies of theirs', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    const queued = [(await b.send('One.')).run.id, (await b.send('Two.')).run.id];
    await ok(s.call('POST', `${b.at}/stop`, {}));
    expect(
      (await b.list('runs'))
        .filter((r: { status: string }) => r.status === 'cancelled')
        .map((r: { id: string }) => r.id),
    ).toEqual(expect.arrayContaining(queued));
    await b.ended(run.id);
    expect((await b.list('messages')).map((m: { role: string }) => m.role)).toEqual([
      'user',
      'user',
      'user',
      'assistant',
    ]);
    expect(await b.thread()).toMatchObject({ status: 'ready', pendingWakeups: 0, latestRunId: run.id });
  });

  test('that was accepted wins over an end at the same time', async () => {
    const b = await newBench(s);
    const { ctx } = s.service;
    const { run } = await b.send(sh('echo b > b.txt; sleep 0.3'));
    await b.working(run.id);
    // Like a stop whose wake-up comes too late for the agent.
    await ctx.db
      .updateTable('runs')
      .set({ cancel_requested_at: new Date() })
      .where('id', '=', run.id)
      .execute();
    expect(await b.ended(run.id)).toMatchObject({ status: 'cancelled', resultSourceId: null });
    expect((await b.thread()).latestSourceId).toBe(b.sourceId);
  });

  test('409 without an open run, on an ended one, on an archived thread', async () => {
    const b = await newBench(s);
    expect(await refusal(s.call('POST', `${b.at}/stop`, {}))).toBe('409 run_not_active');
    await b.work('Hello.');
    expect(await refusal(s.call('POST', `${b.at}/stop`))).toBe('409 run_not_active');
  });
});

describe('retry', () => {
  test('repeats the last user message from the latest source, without a new message', async () => {
    const b = await newBench(s);
    const first = await b.work(sh('echo x >> a.txt'));
    let again: { id: string };
    const words = await b.during(async () => {
      ({ run: again } = await ok(s.call('POST', `${b.at}/retry`)));
      await b.ended(again.id);
    });
    expect(withoutPending(words)).toEqual([
      'run.queued',
      'thread.updated:queued',
      ...STARTED,
      'tool.updated:running',
      'tool.updated:completed',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:ready',
    ]);
    const run = await b.ended(again!.id);
    expect(run).toMatchObject({
      kind: 'retry',
      messageId: first.messageId,
      baseSourceId: first.resultSourceId,
    });
    expect((await b.files(run.resultSourceId))['a.txt']).toBe('a\nx\nx\n');
  });

  test('409 conflict without a message', async () => {
    expect(await refusal(s.call('POST', `${(await newBench(s)).at}/retry`, {}))).toBe('409 conflict');
  });
});

describe('reads', () => {
  test("waitSeconds answers at the end, or with the current state after its time; another thread's run is unknown", async () => {
    const [b, other] = [await newBench(s), await newBench(s)];
    const { run } = await b.send(sh('sleep 60'));
    const at = Date.now();
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=1`))).run.finishedAt).toBe(null);
    expect(Date.now() - at).toBeGreaterThanOrEqual(950);
    const waiting = s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=30`);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    expect((await ok(waiting)).run.status).toBe('cancelled');
    for (const path of ['', '/tools'])
      expect(await refusal(s.call('GET', `${other.at}/runs/${run.id}${path}`))).toBe('404 run_not_found');
    expect(await refusal(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=31`))).toBe(
      '400 invalid_request /query/waitSeconds',
    );
  });
});

describe('concurrency', () => {
  test("a run beyond the app's limit waits for capacity, and starts when there is some", async () => {
    const b = await newBench(s, { settings: { concurrency: { runs: 1 } } });
    const second = (await ok(s.call('POST', `${b.app}/threads`, {}))).thread.id as string;
    const third = (await ok(s.call('POST', `${b.app}/threads`, {}))).thread.id as string;
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    const waiting = await Promise.all(
      [second, third].map(async (id) => ({
        at: `${b.app}/threads/${id}`,
        run: (await ok(s.call('POST', `${b.app}/threads/${id}/messages`, { content: sh('sleep 0.4') }))).run
          .id as string,
      })),
    );
    for (const { at } of waiting)
      await until('capacity', async () =>
        (await ok(s.call('GET', at))).thread.waitingOn.includes('capacity'),
      );
    await ok(s.call('POST', `${b.at}/stop`, {}));
    const ended = await Promise.all(
      waiting.map(
        async ({ at, run: id }) => (await ok(s.call('GET', `${at}/runs/${id}?waitSeconds=30`))).run,
      ),
    );
    const [x, y] = ended.toSorted((p, q) => Date.parse(p.startedAt) - Date.parse(q.startedAt));
    expect([x.status, y.status]).toEqual(['completed', 'completed']);
    expect(Date.parse(y.startedAt)).toBeGreaterThanOrEqual(Date.parse(x.finishedAt));
    for (const { at } of waiting) expect((await ok(s.call('GET', at))).thread.waitingOn).toEqual([]);
  });
});
