import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { readTar } from '../trees/tar-reader.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, newThread, until } from './builds.fixture.ts';
import { LOG_BYTES } from '../logs/index.ts';

const server = await startTestServer();
afterAll(() => server.close());
const status = server.service.ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const download = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(server.base + url, { headers: { 'x-api-key': server.key, ...headers } });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
};

describe.skipIf(!status?.ok)('a build', () => {
  test('is ready with an artifact that its manifest describes; equal files give equal bytes', async () => {
    const bench = await newBench(server, { 'in.txt': 'input\n' });
    const command =
      'echo building; mkdir -p dist/sub dist/empty; cp in.txt dist/sub; printf "#!" > dist/run; chmod 755 dist/run; head -c 3000000 /dev/zero > "dist/big ä"';
    const [first, second] = [
      await bench.ended((await bench.submit(command)).id),
      await bench.ended((await bench.submit(command)).id),
    ];
    expect(first).toMatchObject({
      status: 'ready',
      exitCode: 0,
      error: null,
      fileCount: 3,
      sourceId: bench.sourceId,
      threadId: bench.threadId,
    });
    const [artifact, other] = [
      await download(`${bench.url}/builds/${first.id}/artifact`),
      await download(`${bench.url}/builds/${second.id}/artifact`),
    ];
    expect(other.bytes.equals(artifact.bytes)).toBe(true);
    expect([
      artifact.headers.get('content-type'),
      artifact.headers.get('etag'),
      Number(artifact.headers.get('content-length')),
    ]).toEqual(['application/gzip', `"${first.artifactSha256}"`, first.artifactByteSize]);
    expect([sha256(artifact.bytes), artifact.bytes.length]).toEqual([
      first.artifactSha256,
      first.artifactByteSize,
    ]);
    expect(
      (
        await download(`${bench.url}/builds/${first.id}/artifact`, {
          'if-none-match': `"${first.artifactSha256}"`,
        })
      ).status,
    ).toBe(304);
    const { manifest } = (await server.call('GET', `${bench.url}/builds/${first.id}/manifest`)).body;
    const unpacked = [];
    for await (const entry of readTar([gunzipSync(artifact.bytes)])) {
      const content = await entry.read();
      unpacked.push({
        path: entry.path,
        byteSize: content.length,
        sha256: sha256(content),
        mode: entry.executable ? '0755' : '0644',
      });
    }
    expect(manifest).toEqual({
      buildId: first.id,
      sourceId: bench.sourceId,
      artifactSha256: first.artifactSha256,
      fileCount: 3,
      byteSize: 3_000_008,
      files: unpacked,
    });
    const plain = await server.call('GET', `${bench.url}/builds/${first.id}/logs`, undefined, {
      headers: { accept: 'text/plain' },
    });
    expect([plain.text, plain.headers.get('content-type')]).toEqual([
      'building\n',
      'text/plain; charset=utf-8',
    ]);
  });

  test.each([
    ['exit 7', {}, 'command_failed', 7, /^The command exited with 7\.$/],
    [
      'seq 1000; echo "no such module" >&2; exit 254',
      {},
      'command_failed',
      254,
      /^The command exited with 254\. Its last output: \d+\n[^]*\n1000\nno such module$/,
    ],
    ['kill -9 $$', {}, 'command_failed', null, /SIGKILL|137/],
    ['echo x; sleep 60', { timeoutSeconds: 1 }, 'timed_out', null, /1 seconds\. Its last output: x$/],
  ])('%s %o fails as %s', async (command, fields, code, exitCode, message) => {
    const bench = await newBench(server);
    const build = await bench.ended((await bench.submit(command, fields)).id);
    expect(build).toMatchObject({ status: 'failed', error: { code }, artifactSha256: null, fileCount: null });
    // A shell reports a command that a signal ended as 128 + n.
    if (code !== 'command_failed' || exitCode !== null) expect(build.exitCode).toBe(exitCode);
    expect(build.error.message).toMatch(message);
  });

  test('the whole source may be the output', async () => {
    const bench = await newBench(server);
    const build = await bench.ended((await bench.submit('echo b > b.txt', { outputDirectory: '.' })).id);
    expect([build.status, build.fileCount]).toEqual(['ready', 2]);
  });

  test('its logs can be read while it goes on, and are cut at their limit; NUL does not stop them', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit(
      'printf "first\\000\\n"; sleep 2; head -c 2500000 /dev/zero | tr "\\0" x; echo never; mkdir dist',
    );
    await until(async () => (await bench.logs(id)).text === 'first\u{fffd}\n');
    expect((await bench.read(id)).status).toBe('building');
    expect((await bench.ended(id)).status).toBe('ready');
    const logs = await bench.logs(id);
    expect(logs.truncated).toBe(true);
    expect(logs.text.startsWith('first\u{fffd}\nxxx')).toBe(true);
    expect(logs.text.endsWith('x\n[The rest of the output was cut off.]\n')).toBe(true);
    expect(logs.byteSize).toBe(Buffer.byteLength(logs.text));
    expect(Buffer.byteLength(logs.text.split('\n[')[0])).toBe(LOG_BYTES);
  });

  test('publishes each step in order, the end with the thread that is free again', async () => {
    const bench = await newBench(server);
    await until(async () => (await server.call('GET', bench.thread)).body.thread.workspaceStatus === 'ready');
    const ready = await bench.ended((await bench.submit('mkdir dist')).id);
    const failed = await bench.ended((await bench.submit('exit 1')).id);
    const row = (type: string, data: object) =>
      expect.objectContaining({ type, data, threadId: bench.threadId });
    const of = (id: string, status: string, more = {}) =>
      row(`platform.build.${status}`, { id, status, sourceId: bench.sourceId, ...more });
    const thread = (threadStatus: string) =>
      row('thread.updated', { id: bench.threadId, status: threadStatus });
    const expected = [
      of(ready.id, 'queued'),
      thread('blocked'),
      of(ready.id, 'building'),
      of(ready.id, 'ready', { artifactSha256: ready.artifactSha256 }),
      thread('ready'),
      of(failed.id, 'queued'),
      thread('blocked'),
      of(failed.id, 'building'),
      of(failed.id, 'failed'),
      thread('ready'),
    ];
    await until(async () => (await bench.events()).some((e) => e.type === 'platform.build.failed'));
    const events = await bench.events();
    expect(events.slice(events.findIndex((e) => e.type === 'platform.build.queued'))).toEqual(expected);
  });

  test('a retry of its submission replays it and starts none', async () => {
    const bench = await newBench(server);
    const [idem, body] = [randomUUID(), { command: 'mkdir dist', outputDirectory: 'dist' }];
    const first = await server.call('POST', `${bench.thread}/builds`, body, { idem });
    await bench.ended(first.body.build.id);
    const again = await server.call('POST', `${bench.thread.replace('/apps/', '/projects/')}/builds`, body, {
      idem,
    });
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      202,
      first.text,
      'true',
    ]);
    expect((await server.call('GET', `${bench.thread}/builds`)).body.builds.length).toBe(1);
  });

  test('is refused where its thread or source cannot take it', async () => {
    const [bench, other] = [await newBench(server), await newBench(server)];
    const post = async (body: object, on = bench.thread) => {
      const { status: code, body: answer } = await server.call('POST', `${on}/builds`, {
        command: 'true',
        outputDirectory: 'dist',
        ...body,
      });
      return [
        code,
        answer.error?.code,
        answer.error?.reason ?? answer.error?.fields?.map((f: { path: string }) => f.path),
      ];
    };
    expect(await post({ sourceId: other.sourceId })).toEqual([404, 'source_not_found', undefined]);
    expect(await post({ outputDirectory: '../up' })).toEqual([400, 'invalid_request', ['/outputDirectory']]);
    expect(await post({ timeoutSeconds: 601, command: '' })).toEqual([
      400,
      'invalid_request',
      ['/command', '/timeoutSeconds'],
    ]);
    const { id } = await bench.submit('sleep 30');
    expect(await post({})).toEqual([409, 'thread_busy', 'build']);
    expect(
      (await server.call('POST', `${bench.thread}/messages`, { content: 'hello' })).body.error,
    ).toMatchObject({ code: 'thread_busy', reason: 'build' });
    await bench.started(id);
    expect((await server.call('DELETE', bench.url)).body.error.code).toBe('build_busy');
    await server.call('PATCH', bench.thread, { archived: true });
    expect((await bench.ended(id)).error.code).toBe('cancelled');
    expect(await post({})).toEqual([409, 'thread_archived', undefined]);
    expect((await server.call('GET', `${other.url}/builds/${id}`)).body.error.code).toBe('build_not_found');
  });

  test('a building one that is cancelled fails once', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('echo begun; sleep 60');
    await bench.started(id);
    const cancel = () => server.call('POST', `${bench.url}/builds/${id}/cancel`);
    expect([(await cancel()).status, (await cancel()).status]).toEqual([202, 202]);
    expect(await bench.ended(id)).toMatchObject({
      status: 'failed',
      exitCode: null,
      error: { code: 'cancelled' },
    });
    const late = await cancel();
    expect([late.status, late.body.error.code]).toEqual([409, 'build_not_active']);
    await until(
      async () => (await bench.events()).filter((e) => e.type === 'platform.build.failed').length === 1,
    );
    expect((await server.call('GET', bench.thread)).body.thread).toMatchObject({ blockedOn: [] });
  });

  test("more than the app's setting wait; a waiting one that is cancelled never starts", async () => {
    const bench = await newBench(server);
    expect((await server.call('PATCH', `${bench.url}/settings`, { concurrency: { builds: 1 } })).status).toBe(
      200,
    );
    const first = await bench.submit('while true; do sleep 0.1; done');
    await bench.started(first.id);
    const threads = [await newThread(server, bench.url), await newThread(server, bench.url)];
    const [second, third] = [
      await bench.submit('mkdir dist', {}, `${bench.url}/threads/${threads[0]}`),
      await bench.submit('mkdir dist', {}, `${bench.url}/threads/${threads[1]}`),
    ];
    // Its job has run and was postponed.
    await until(
      async () =>
        (
          await server.service.ctx.db
            .selectFrom('jobs')
            .select('id')
            .where('key', '=', `build:${second.id}`)
            .where('attempt', '=', 0)
            .where('run_at', '>', new Date(Date.parse(second.createdAt) + 400))
            .execute()
        ).length === 1,
    );
    const cancelled = await server.call('POST', `${bench.url}/builds/${third.id}/cancel`);
    expect([
      cancelled.status,
      cancelled.body.build.status,
      cancelled.body.build.error.code,
      cancelled.body.build.startedAt,
    ]).toEqual([202, 'failed', 'cancelled', null]);
    expect((await server.call('GET', `${bench.url}/threads/${threads[1]}`)).body.thread.blockedOn).toEqual(
      [],
    );
    expect([(await bench.read(first.id)).status, (await bench.read(second.id)).status]).toEqual([
      'building',
      'queued',
    ]);
    await server.call('POST', `${bench.url}/builds/${first.id}/cancel`);
    expect((await bench.ended(second.id)).status).toBe('ready');
  });

  test('ends with its deleted thread, and can still be read', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('sleep 60');
    await bench.started(id);
    expect((await server.call('DELETE', bench.thread)).status).toBe(200);
    expect(await bench.ended(id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect((await server.call('DELETE', bench.url)).status).toBe(200);
  });

  test('of a Direct project is listed with its thread', async () => {
    const project = (await server.call('POST', '/api/projects', { name: 'Direct' })).body.project;
    const { thread } = (await server.call('POST', '/api/threads', { projectId: project.id })).body;
    const refused = await server.call('POST', `/api/threads/${thread.id}/builds`, {
      command: 'true',
      outputDirectory: '.',
    });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    expect((await server.call('GET', `/api/threads/${thread.id}/builds`)).body).toEqual({
      ok: true,
      builds: [],
      nextCursor: null,
      hasMore: false,
    });
  });
});
