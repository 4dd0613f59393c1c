import { createHash, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { sql } from 'kysely';
import pino from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../boot.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until, visit } from './previews.fixture.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);

const isGone = (id: string) =>
  until(
    () =>
      ctx.runner.task(id).then(
        () => false,
        (error: { status: number }) => error.status === 404,
      ),
    'the sandbox to be gone',
  );
const bench = status?.ok ? await newBench(server) : undefined!;
const shared = status?.ok ? await bench.ready() : undefined!;

describe.skipIf(!status?.ok)('a preview', () => {
  test('is ready under its own address, and one write makes one preview', async () => {
    expect(shared).toMatchObject({
      status: 'ready',
      error: null,
      projectId: bench.appId,
      threadId: bench.threadId,
      command: 'node server.mjs',
      port: 3210,
    });
    expect(shared.url).toMatch(new RegExp(`^http://[0-9a-z]{26}\\.localhost:${new URL(server.base).port}/$`));
    expect(Date.parse(shared.expiresAt) - Date.parse(shared.createdAt)).toBe(8 * 3600_000);
    const other = await newBench(server);
    const [idem, body] = [randomUUID(), { command: 'sleep 60', port: 1 }];
    const [first, again] = [
      await server.call('POST', `${other.threadUrl}/previews`, body, { idem }),
      await server.call('POST', `${other.threadUrl}/previews`, body, { idem }),
    ];
    expect([first.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect((await server.call('GET', `${other.threadUrl}/previews`)).body.previews).toHaveLength(1);
    const stopped = await server.call('DELETE', `${other.url}/previews/${first.body.preview.id}`);
    expect([stopped.status, stopped.body.preview.status]).toEqual([200, 'stopped']);
    expect(
      (await server.call('DELETE', `${other.url}/previews/${first.body.preview.id}`)).body.preview.status,
    ).toBe('stopped');
    await isGone(first.body.preview.id);
    const { events } = (await server.call('GET', `${other.url}/events?types=preview.updated`)).body;
    expect(events.map((e: { data: unknown }) => e.data)).toEqual(
      ['starting', 'stopped'].map((s) => ({ id: first.body.preview.id, status: s })),
    );
  });

  test("streams large bodies whole, both ways and at the reader's pace", async () => {
    const body = Buffer.alloc(5_000_000, 'abc');
    const sent = JSON.parse(
      (
        await visit(server, shared.url, '/up', {
          method: 'PUT',
          body,
          headers: { 'transfer-encoding': 'chunked' },
        })
      ).text,
    );
    expect(sent).toMatchObject({
      method: 'PUT',
      bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
    });
    const big = await visit(server, shared.url, '/big', { slow: true });
    expect([big.status, big.text.length, big.headers['content-length']]).toEqual([200, 8_000_000, '8000000']);
    expect((await visit(server, shared.url, '/big', { method: 'HEAD' })).headers['content-length']).toBe(
      '8000000',
    );
  });

  test('that is not there is refused by the service, in its own name', async () => {
    const isZero = shared.url.includes('//0');
    const url = shared.url.replace(/\/\/./, isZero ? '//1' : '//0');
    const { status: code, headers } = await visit(server, url, '/x');
    expect([code, headers['x-headrace-version'], headers['x-content-type-options']]).toEqual([
      404,
      ctx.version,
      'nosniff',
    ]);
  });

  test('sees nothing of the service or of the connection, and its visitors keep their other headers', async () => {
    const { headers } = JSON.parse(
      (
        await visit(server, shared.url, '/x', {
          headers: {
            'x-api-key': server.key,
            authorization: `Bearer ${server.key}`,
            cookie: 'mine=1; headrace_session=secret; theirs=2',
            connection: 'close, x-hop',
            'x-hop': '1',
            te: 'trailers',
            upgrade: 'h2c',
            'x-own': '2',
          },
        })
      ).text,
    );
    expect(headers).toMatchObject({
      'x-own': '2',
      cookie: 'mine=1; theirs=2',
      host: new URL(shared.url).host,
      'x-forwarded-host': new URL(shared.url).host,
      'x-forwarded-proto': 'http',
      'x-forwarded-for': expect.stringMatching(/127\.0\.0\.1$/),
    });
    for (const name of ['x-api-key', 'authorization', 'x-hop', 'te', 'upgrade'])
      expect(headers).not.toHaveProperty(name);
    expect(
      JSON.parse(
        (await visit(server, shared.url, '/x', { headers: { authorization: 'Basic bWU6bXk=' } })).text,
      ).headers.authorization,
    ).toBe('Basic bWU6bXk=');
  });

  test('sets cookies for itself only, and is framed by whom the settings name', async () => {
    const plain = await visit(server, shared.url, '/cookies');
    expect([
      plain.headers['set-cookie'],
      plain.headers['content-security-policy'],
      plain.headers['x-two'],
    ]).toEqual([['a=1; Path=/'], "default-src 'self'", '1, 2']);
    await server.call('PATCH', `${bench.url}/settings`, {
      preview: { frameAncestors: ["'self'", 'https://app.example.com'] },
    });
    await until(
      async () =>
        (await visit(server, shared.url, '/cookies')).headers['content-security-policy'] ===
        "default-src 'self', frame-ancestors 'self' https://app.example.com",
      'the new policy',
    );
    await server.call('PATCH', `${bench.url}/settings`, { preview: null });
  });

  test('takes WebSockets, and passes a refusal on', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', cookie: 'headrace_session=secret' };
    const {
      status: code,
      headers,
      socket,
    } = await visit(server, shared.url, '/socket', { headers: upgrade });
    expect([code, headers['x-saw'], Buffer.from(String(headers['x-name']), 'latin1').toString()]).toEqual([
      101,
      'none',
      'bücher',
    ]);
    const echoed = new Promise((resolve) => {
      socket!.once('data', (part: Buffer) => resolve(part.toString()));
    });
    socket!.write('hello');
    expect(await echoed).toBe('hello');
    socket!.destroy();
    const refused = await visit(server, shared.url, '/refused', { headers: upgrade });
    expect([refused.status, refused.text, refused.headers.connection]).toEqual([403, 'no', 'close']);
  });

  test('that breaks off breaks its answer off; one without an answer is 502', async () => {
    await expect(visit(server, shared.url, '/break')).rejects.toThrow(/aborted|hang up|reset/);
    const silent = await visit(server, shared.url, '/silent');
    expect([silent.status, JSON.parse(silent.text).error.code]).toEqual([502, 'bad_gateway']);
  });

  test('a visitor who goes away ends the connection', async () => {
    const streams = async () => (await visit(server, shared.url, '/streams')).text;
    const { hostname, port } = new URL(server.base);
    const asked = request({
      host: hostname,
      port,
      path: '/stream',
      headers: { host: new URL(shared.url).host },
      agent: false,
    })
      .on('error', () => {})
      .end();
    await new Promise((resolve) => {
      asked.once('response', resolve);
    });
    expect(await streams()).toBe('1');
    asked.destroy();
    await until(async () => (await streams()) === '0', 'the stream to end');
  });

  test("follows the thread's sources", async () => {
    const other = await newBench(server);
    const { url, id } = await other.ready();
    expect((await visit(server, url, '/file')).text).toBe('first');
    expect(
      (
        await server.call('POST', `${other.threadUrl}/edits`, {
          expectedSourceId: other.sourceId,
          changes: [{ path: 'file.txt', content: 'second' }],
        })
      ).status,
    ).toBe(201);
    await until(async () => (await visit(server, url, '/file')).text === 'second', 'the newer file');
    await server.call('DELETE', `${other.url}/previews/${id}`);
  });

  test('whose command ends has failed with what it said; before that it is starting', async () => {
    const other = await newBench(server);
    const { id, url } = await other.submit('sleep 100');
    const early = await visit(server, url, '/', { headers: { accept: 'text/html' } });
    expect([early.status, early.headers['retry-after'], early.text]).toEqual([
      503,
      '1',
      expect.stringContaining('http-equiv="refresh"'),
    ]);
    await server.call('DELETE', `${other.url}/previews/${id}`);
    const said = await other.ready('printf "no such \\000 module" >&2; exit 3');
    expect(said.error).toEqual({
      code: 'command_ended',
      message: 'The command ended with 3. Its last output: no such \u{fffd} module',
    });
    expect((await visit(server, said.url)).status).toBe(502);
    expect((await server.call('DELETE', `${other.url}/previews/${said.id}`)).body.preview).toMatchObject({
      status: 'stopped',
      error: said.error,
    });
  });

  test('that listens on nothing, outlives its time or loses its sandbox is over', async () => {
    const other = await newBench(server);
    const [silent, old, lost] = [await other.submit('sleep 100'), await other.ready(), await other.ready()];
    await sql`update previews set starting_since = now() - interval '2 minutes' where id = ${silent.id}`.execute(
      ctx.db,
    );
    await sql`update previews set expires_at = now() where id = ${old.id}`.execute(ctx.db);
    for (const { id } of [silent, old]) ctx.bus.notify('control', id);
    await ctx.runner.cancel(lost.id);
    expect(await other.read(silent.id, 30)).toMatchObject({
      status: 'failed',
      error: { code: 'start_timed_out' },
    });
    await until(async () => (await other.read(old.id)).status === 'stopped', 'the old one to stop');
    expect((await visit(server, old.url)).status).toBe(404);
    expect(
      await until(async () => {
        const p = await other.read(lost.id);
        return p.status === 'failed' && p;
      }, 'the lost one to fail'),
    ).toMatchObject({ error: { code: 'sandbox_lost' } });
    for (const { id } of [silent, old, lost]) await isGone(id);
  });

  test.each([
    ["thread's archive", 'PATCH', { archived: true }, 'threadUrl'],
    ["thread's deletion", 'DELETE', undefined, 'threadUrl'],
    ["app's deletion", 'DELETE', undefined, 'url'],
  ] as const)('is stopped by its %s', async (_how, method, body, where) => {
    const other = await newBench(server);
    const { id, url, status: before } = await other.ready();
    expect(before).toBe('ready');
    expect((await server.call(method, other[where], body)).status).toBe(200);
    expect((await visit(server, url)).status).toBe(404);
    expect(
      (await ctx.db.selectFrom('previews').select('status').where('id', '=', id).executeTakeFirstOrThrow())
        .status,
    ).toBe('stopped');
    await isGone(id);
    if (method === 'PATCH')
      expect(
        (await server.call('POST', `${other.threadUrl}/previews`, { command: 'true', port: 1 })).body.error
          .code,
      ).toBe('thread_archived');
  });

  test('of a Direct thread publishes its operation before and after', async () => {
    const { project } = (await server.call('POST', '/api/projects', { name: 'Direct' })).body;
    const { thread } = (await server.call('POST', '/api/threads', { projectId: project.id })).body;
    const { cursor } = (await server.call('GET', '/api/events/head')).body;
    const made = await server.call('POST', `/api/threads/${thread.id}/previews`, {
      command: 'sleep 100',
      port: 1,
    });
    expect(made.status).toBe(201);
    const events = await until(async () => {
      const { body } = await server.call('GET', `/api/events?cursor=${encodeURIComponent(cursor)}`);
      // Other operations' events may still be on their way when the cursor is taken.
      const found = body.events.filter(
        (e: { type: string; data: { id: string } }) =>
          e.type.startsWith('preview.') || e.data.id === made.headers.get('x-operation-id'),
      );
      return found.length >= 3 && found;
    }, 'the events');
    expect(
      events.map((e: { type: string; data: { status: string } }) => `${e.type}:${e.data.status}`),
    ).toEqual(['operation.updated:pending', 'preview.updated:starting', 'operation.updated:succeeded']);
    expect((await server.call('DELETE', `/api/threads/${thread.id}`)).status).toBe(200);
    await isGone(made.body.preview.id);
  });
});

describe.skipIf(!status?.ok)('a service that starts again', () => {
  test(
    'stops in spite of open streams, and follows the previews whose sandboxes live',
    { timeout: 60_000 },
    async () => {
      const first = await startTestServer();
      const own = await newBench(first);
      const { id, url } = await own.ready();
      const { hostname, port } = new URL(first.base);
      const asked = request({
        host: hostname,
        port,
        path: '/stream',
        headers: { host: new URL(url).host },
        agent: false,
      })
        .on('error', () => {})
        .end();
      await new Promise((resolve) => {
        asked.once('response', (answer) => {
          answer.on('error', () => {});
          resolve(null);
        });
      });
      // The same goes for a body that nobody waits for any more.
      const upload = request({
        host: hostname,
        port,
        path: '/early',
        method: 'POST',
        headers: { host: new URL(url).host, 'content-length': 20_000_000, connection: 'keep-alive' },
        agent: false,
      }).on('error', () => {});
      upload.write('the beginning');
      await new Promise((resolve) => {
        upload.once('response', (answer) => {
          answer
            .on('error', () => {})
            .once('end', resolve)
            .resume();
        });
      });
      await first.service.stop();
      const next = await startService(
        { ...first.service.ctx.config, port: Number(port) },
        pino({ level: 'silent' }),
      );
      try {
        const again = { ...first, service: next, base: next.address! };
        expect((await visit(again, url, '/file')).text).toBe('first');
        expect(
          (
            await first.call('POST', `${own.threadUrl}/edits`, {
              expectedSourceId: own.sourceId,
              changes: [{ path: 'file.txt', content: 'second' }],
            })
          ).status,
        ).toBe(201);
        await until(async () => (await visit(again, url, '/file')).text === 'second', 'the newer file');
        expect((await own.read(id)).status).toBe('ready');
        await first.call('DELETE', `${own.url}/previews/${id}`);
        await until(
          () =>
            next.ctx.runner.task(id).then(
              () => false,
              () => true,
            ),
          'the sandbox to be gone',
        );
      } finally {
        await next.stop();
        await first.close();
      }
    },
  );
});
