import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseFrames } from '../events/events.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { cleanUp } from '../teardown/cleanup.ts';
import { newBench, ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const exec = (
  b: Bench,
  command: string,
  fields: object = {},
  options: { idem?: string; headers?: Record<string, string> } = {},
) => s.call('POST', `${b.at}/exec`, { command, ...fields }, options);

describe('200', () => {
  test('what the command did: its code, both streams, its input; nothing changed', async () => {
    const b = await newBench(s);
    let result: object;
    const words = await b.during(async () => {
      result = (await ok(exec(b, 'cat; echo err >&2; cat a.txt; exit 3', { stdin: 'in\n' }))).exec;
    });
    expect(result!).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      stdout: 'in\na\n',
      stderr: 'err\n',
      truncated: false,
      durationMs: expect.any(Number),
      sourceId: null,
    });
    expect(words).toEqual([]);
  });

  test('changed files become a new source, on which the thread goes on', async () => {
    const b = await newBench(s);
    let result: { sourceId: string };
    const words = await b.during(async () => {
      result = (await ok(exec(b, 'echo b > b.txt'))).exec;
    });
    expect(words).toEqual(['platform.source.imported', 'checkpoint.created']);
    expect([(await b.thread()).latestSourceId, await b.files(result!.sourceId)]).toEqual([
      result!.sourceId,
      { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    ]);
    expect((await ok(s.call('GET', `${b.app}/sources/${result!.sourceId}`))).source).toMatchObject({
      origin: 'edit',
      parentSourceIds: [b.sourceId],
      runId: null,
    });
    expect((await b.list('checkpoints'))[0].kind).toBe('edit');
  });

  test('what may be no source is undone, and said', async () => {
    const b = await newBench(s);
    const result = (await ok(exec(b, 'head -c 8388609 /dev/zero > big.bin; rm a.txt'))).exec;
    expect([result.exitCode, result.sourceId, result.stderr.includes('big.bin')]).toEqual([0, null, true]);
    expect((await ok(exec(b, 'ls'))).exec.stdout).toBe('a.txt\n');
  });

  test('a command beyond its time is killed', async () => {
    const b = await newBench(s);
    const at = Date.now();
    expect((await ok(exec(b, 'echo x; sleep 60', { timeoutSeconds: 1 }))).exec).toMatchObject({
      timedOut: true,
      exitCode: null,
      stdout: 'x\n',
    });
    expect(Date.now() - at).toBeLessThan(8_000);
  });

  test('output is cut at 1 MiB a stream; NUL and broken UTF-8 are kept as text', async () => {
    const b = await newBench(s);
    const result = (await ok(exec(b, `printf 'a\\000\\377b' >&2; head -c 2000000 /dev/zero | tr '\\0' x`)))
      .exec;
    expect([result.stderr, result.stdout.length, result.truncated]).toEqual([
      'a\u{fffd}\u{fffd}b',
      1024 * 1024,
      true,
    ]);
  });

  test('line and paragraph separators are text like any other', async () => {
    const b = await newBench(s);
    const text = 'a\u2028b\u2029c\u0085d';
    expect((await ok(exec(b, 'cat', { stdin: text }))).exec).toMatchObject({ exitCode: 0, stdout: text });
  });

  test('a stream of frames with Accept: text/event-stream; a retry of it is JSON', async () => {
    const b = await newBench(s);
    const idem = randomUUID();
    const headers = { accept: 'text/event-stream' };
    const streamed = await exec(b, 'echo one; echo two >&2; exit 4', {}, { idem, headers });
    expect([
      streamed.status,
      streamed.headers.get('content-type'),
      streamed.headers.get('x-operation-id'),
    ]).toEqual([200, 'text/event-stream; charset=utf-8', expect.stringMatching(/^op_/)]);
    const { frames } = parseFrames(streamed.text);
    const text = (stream: string) =>
      frames
        .filter((f) => f.event === 'output' && f.data.stream === stream)
        .map((f) => f.data.text)
        .join('');
    expect([text('stdout'), text('stderr'), frames.at(-1)]).toEqual([
      'one\n',
      'two\n',
      {
        event: 'exit',
        data: {
          exitCode: 4,
          signal: null,
          timedOut: false,
          truncated: false,
          durationMs: expect.any(Number),
          sourceId: null,
        },
      },
    ]);
    const again = await exec(b, 'echo one; echo two >&2; exit 4', {}, { idem, headers });
    expect([again.headers.get('idempotent-replayed'), again.body.exec]).toMatchObject([
      'true',
      { exitCode: 4, stdout: 'one\n', stderr: 'two\n' },
    ]);
  });

  test('frames come as they are written, not with the end', async () => {
    const b = await newBench(s);
    const response = await fetch(`${s.base}${b.at}/exec`, {
      method: 'POST',
      body: JSON.stringify({ command: 'echo first; sleep 60' }),
      headers: {
        'x-api-key': s.key,
        'idempotency-key': randomUUID(),
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
    });
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('first')) text += Buffer.from((await reader.read()).value ?? []).toString();
    expect(text).toBe('event: output\ndata: {"stream":"stdout","text":"first\\n"}\n\n');
    await ok(s.call('PATCH', b.at, { archived: true }));
    while (!text.includes('exit')) text += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
  });

  test('a stream also says what was undone', async () => {
    const b = await newBench(s);
    const { frames } = parseFrames(
      (
        await exec(
          b,
          'echo said >&2; head -c 8388609 /dev/zero > big.bin',
          {},
          { headers: { accept: 'text/event-stream' } },
        )
      ).text,
    );
    expect(
      frames
        .filter((f) => f.event === 'output' && f.data.stream === 'stderr')
        .map((f) => f.data.text)
        .join(''),
    ).toMatch(/^said\nheadrace: .*big\.bin/);
  });

  test('a workspace that was put away is restored for it', async () => {
    const b = await newBench(s);
    await ok(exec(b, 'echo kept > kept.txt; mkdir node_modules; echo gone > node_modules/x'));
    s.service.ctx.clock.offsetMs += 20 * 60_000;
    await until('the archive', async () => (await b.thread()).workspaceStatus === 'archived');
    expect((await ok(exec(b, 'cat kept.txt; ls'))).exec).toMatchObject({
      exitCode: 0,
      stdout: 'kept\na.txt\nkept.txt\n',
      sourceId: null,
    });
    expect(
      (await b.list('workspace/history'))
        .map((r: { from: string; to: string; reason: string }) => `${r.from} ${r.to} ${r.reason}`)
        .slice(0, 3),
    ).toEqual(['preparing ready exec', 'archived preparing exec', 'ready archived idle']);
  });

  test('who goes away cancels nothing: a retry gets the stored result, and it ran once', async () => {
    const b = await newBench(s);
    const idem = randomUUID();
    const body = JSON.stringify({ command: 'echo x >> log.txt; sleep 1; echo done' });
    const gone = new AbortController();
    const request = fetch(`${s.base}${b.at}/exec`, {
      method: 'POST',
      signal: gone.signal,
      body,
      headers: { 'x-api-key': s.key, 'idempotency-key': idem, 'content-type': 'application/json' },
    }).catch(() => 'gone');
    await until('the command to run', async () =>
      (await s.service.ctx.runner.tasks()).some(
        (t) => t.workspaceId === b.threadId && t.status === 'running',
      ),
    );
    gone.abort();
    expect(await request).toBe('gone');
    expect(await refusal(s.call('POST', `${b.at}/exec`, body, { idem }))).toBe('409 request_in_progress');
    const again = await until('the result', async () => {
      const answer = await s.call('POST', `${b.at}/exec`, body, { idem });
      return answer.status === 200 && answer;
    });
    expect([again.headers.get('idempotent-replayed'), again.body.exec.stdout]).toEqual(['true', 'done\n']);
    expect((await b.files(again.body.exec.sourceId))['log.txt']).toBe('x\n');
  });
});

describe('the row of a command', () => {
  test('keeps no input when the command has ended, and goes with its deleted project then', async () => {
    const b = await newBench(s);
    await ok(exec(b, 'cat', { stdin: 'secret' }));
    const { ctx } = s.service;
    const rows = () =>
      ctx.db.selectFrom('execs').select(['status', 'stdin']).where('thread_id', '=', b.threadId).execute();
    expect(await rows()).toEqual([{ status: 'completed', stdin: null }]);
    await ok(s.call('DELETE', b.app));
    await sql`update projects set deleted_at = deleted_at - interval '1 hour' where id = (select project_id from threads where id = ${b.threadId})`.execute(
      ctx.db,
    );
    await ctx.db
      .updateTable('execs')
      .set({ status: 'running' })
      .where('thread_id', '=', b.threadId)
      .execute();
    await cleanUp(ctx);
    expect(await rows()).toHaveLength(1);
    await ctx.db.updateTable('execs').set({ status: 'failed' }).where('thread_id', '=', b.threadId).execute();
    await cleanUp(ctx);
    expect(await rows()).toEqual([]);
  });
});

describe('400', () => {
  test.each([
    ['an empty command', { command: '' }, '/command'],
    ['a long one', { command: 'x'.repeat(10_001) }, '/command'],
    ['no time', { command: 'true', timeoutSeconds: 0 }, '/timeoutSeconds'],
    ['too much time', { command: 'true', timeoutSeconds: 601 }, '/timeoutSeconds'],
    ['half a second', { command: 'true', timeoutSeconds: 0.5 }, '/timeoutSeconds'],
    ['more input than 1 MiB', { command: 'cat', stdin: 'x'.repeat(1_048_577) }, '/stdin'],
  ])('%s', async (_, body, path) => {
    const b = await newBench(s);
    expect(await refusal(s.call('POST', `${b.at}/exec`, body))).toBe(`400 invalid_request ${path}`);
  });

  test('NUL, which no command and no text of the database can hold, is refused by its place', async () => {
    const b = await newBench(s);
    expect(await refusal(exec(b, 'cat', { stdin: 'a\0b' }))).toBe('400 invalid_request /stdin');
    expect(await refusal(exec(b, 'echo \0'))).toBe('400 invalid_request /command');
  });
});

describe('409', () => {
  test('one thing at a time: exec refuses while a run is open, and the other way round', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    expect(await refusal(exec(b, 'true'))).toBe('409 thread_busy run');
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
    const running = exec(b, 'sleep 2');
    await until('the command', async () =>
      (await s.service.ctx.runner.tasks()).some(
        (t) => t.workspaceId === b.threadId && t.kind === 'exec' && t.status === 'running',
      ),
    );
    expect(await refusal(exec(b, 'true'))).toBe('409 thread_busy exec');
    expect(await refusal(s.call('POST', `${b.at}/messages`, { content: 'x' }))).toBe('409 thread_busy exec');
    expect(
      await refusal(
        s.call('POST', `${b.at}/edits`, {
          expectedSourceId: b.sourceId,
          changes: [{ path: 'b', content: 'b' }],
        }),
      ),
    ).toBe('409 thread_busy exec');
    expect((await running).status).toBe(200);
  });

  test('a thread with an apply or a build is busy; one whose draft was applied is sealed', async () => {
    const b = await newBench(s);
    const { build } = await ok(
      s.call('POST', `${b.at}/builds`, {
        sourceId: b.sourceId,
        command: 'sleep 60',
        outputDirectory: 'dist',
        timeoutSeconds: 120,
      }),
    );
    expect(await refusal(exec(b, 'true'))).toBe('409 thread_busy build');
    await ok(s.call('POST', `${b.app}/builds/${build.id}/cancel`, {}));
    await until('the thread to be idle', async () => (await b.thread()).blockedOn.length === 0);
    const idem = randomUUID();
    const { apply } = await ok(
      s.call('POST', `${b.at}/apply`, { expectedSourceId: b.sourceId, clientOperationId: idem }, { idem }),
    );
    await until(
      'the apply',
      async () => (await ok(s.call('GET', `${b.app}/applies/${apply.id}`))).apply.status === 'applied',
    );
    expect(await refusal(exec(b, 'true'))).toBe('409 draft_sealed');
  });

  test('an archive ends the command', async () => {
    const b = await newBench(s);
    const running = exec(b, 'sleep 60');
    await until('the command', async () =>
      (await s.service.ctx.runner.tasks()).some(
        (t) => t.workspaceId === b.threadId && t.status === 'running',
      ),
    );
    await ok(s.call('PATCH', b.at, { archived: true }));
    expect((await ok(running)).exec).toMatchObject({ exitCode: null, timedOut: false });
    await until(
      'the workspace to be put away',
      async () => (await b.thread()).workspaceStatus === 'archived',
    );
    expect(await refusal(exec(b, 'true'))).toBe('409 thread_archived');
  });
});

describe('a thread that changes while its workspace is made', () => {
  /** Runs `change` once, while a workspace is made. */
  const meanwhile = (change: () => Promise<unknown>) => {
    const { runner } = s.service.ctx;
    const { workspaceExists, putWorkspace } = runner;
    const mend = () => Object.assign(runner, { workspaceExists, putWorkspace });
    runner.workspaceExists = () => Promise.resolve(false);
    runner.putWorkspace = async (...args) => {
      mend();
      await change();
      return putWorkspace.apply(runner, args);
    };
    return mend;
  };

  test.each([
    ['is archived', '409 thread_archived', ['PATCH', { archived: true }]],
    ['is deleted', '404 thread_not_found', ['DELETE', undefined]],
  ] as const)('that %s: %s', async (_, expected, [method, body]) => {
    const b = await newBench(s);
    const mend = meanwhile(() => ok(s.call(method, b.at, body)));
    try {
      expect(await refusal(exec(b, 'true'))).toBe(expected);
    } finally {
      mend();
    }
  });

  test('that is archived for a moment only runs the command', async () => {
    const b = await newBench(s);
    const mend = meanwhile(async () => {
      for (const archived of [true, false]) await ok(s.call('PATCH', b.at, { archived }));
    });
    try {
      expect((await ok(exec(b, 'echo ran'))).exec.stdout).toBe('ran\n');
    } finally {
      mend();
    }
  });
});

describe('503', () => {
  test('without a sandbox nothing is run, and the key is free again', async () => {
    const b = await newBench(s);
    const { runner } = s.service.ctx;
    const { startTask, workspaceExists, putWorkspace } = runner;
    runner.workspaceExists = () => Promise.resolve(false);
    runner.putWorkspace = () => Promise.reject(new Error('no room'));
    const idem = randomUUID();
    const run = () => exec(b, 'echo ran', {}, { idem });
    const refused = await run();
    expect(refused).toMatchObject({
      status: 503,
      body: {
        error: { code: 'source_workspace_unavailable', requestId: refused.headers.get('x-request-id') },
      },
    });
    expect([refused.headers.get('retry-after'), refused.headers.get('x-retry-after')]).toEqual(['1', '1']);
    Object.assign(runner, { startTask, workspaceExists, putWorkspace });
    expect((await ok(run())).exec.stdout).toBe('ran\n');
  });
});
