import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newBench, printed } from './builds.fixture.ts';

const logsPath = /\/builds\/bld_\w+\/logs$/;
const json = (body: object, status = 200) => Promise.resolve(Response.json(body, { status }));

/** Answers reads of logs with these parts, one each; the last one ends the build. */
function servedLogs(parts: readonly string[]) {
  let reads = 0;
  const starts = parts.map((_, at) => Buffer.byteLength(parts.slice(0, at).join('')));
  return ({ url }: { url: URL }) => {
    if (!logsPath.test(url.pathname)) return undefined;
    const at = reads++;
    expect(Number(url.searchParams.get('offset'))).toBe(starts[at]);
    const text = parts[at]!;
    const nextOffset = starts[at]! + Buffer.byteLength(text);
    const ended = at === parts.length - 1;
    if (ended) reads = 0;
    return json({ ok: true, logs: { text, byteSize: nextOffset, truncated: false, nextOffset, ended } });
  };
}

describe('build', () => {
  test('prints the log, says how it ended, and writes the artifact', async () => {
    const { run, service, threadId, cli, client, appId } = await newBench();
    service.buildNext({ log: 'one\ntwo\n', files: { 'index.html': 'built\n', 'assets/a.js': '1\n' } });
    const built = await run(['build', threadId, '-o', 'out', '--', 'npm', 'run', 'build']);
    expect([built.exit, built.stdout]).toEqual([0, 'one\ntwo\n']);
    const [build] = (await client.builds.list(appId, threadId)).items;
    expect(build).toMatchObject({ command: 'npm run build', outputDirectory: 'dist', timeoutSeconds: 600 });
    expect(built.stderr).toContain(`✓ ${build!.id} is ready after `);
    expect(built.stderr).toContain(
      `: 2 files, ${build!.artifactByteSize} B\n  sha256 ${build!.artifactSha256}\n`,
    );
    expect(built.stderr).toContain('Wrote 2 files to out\n');
    expect(readFileSync(join(cli.cwd, 'out/assets/a.js'), 'utf8')).toBe('1\n');
  });

  test('with --json prints the build alone, and takes every option', async () => {
    const { run, threadId, sourceId } = await newBench();
    const built = await run([
      'build',
      threadId,
      '--json',
      '--directory',
      'out',
      '--source',
      sourceId,
      '--timeout',
      '2m',
      '--',
      'npm ci && make',
    ]);
    expect([built.exit, built.json()]).toMatchObject([
      0,
      {
        ok: true,
        build: { command: 'npm ci && make', outputDirectory: 'out', timeoutSeconds: 120, status: 'ready' },
      },
    ]);
    // The thread of the last command is the default.
    expect((await run(['build', '--json', '--', 'make'])).json().build).toMatchObject({ threadId });
  });

  test('that fails ends with 1 and its error code, with --json, too', async () => {
    const { run, service, threadId } = await newBench();
    service.buildNext({ log: 'lost\n', exitCode: 3 });
    const failed = await run(['build', threadId, '--', 'false']);
    expect([failed.exit, failed.stdout]).toEqual([1, 'lost\n']);
    expect(failed.stderr).toMatch(
      /headrace: bld_\w+ failed after \d+ ms: command_failed\. The command ended with exit code 3\.\n {2}→ headrace logs bld_\w+\n$/,
    );
    service.buildNext({ exitCode: 3 });
    const asJson = await run(['build', threadId, '--json', '--', 'false']);
    expect([asJson.exit, asJson.json()]).toMatchObject([
      1,
      { ok: true, build: { status: 'failed', error: { code: 'command_failed' } } },
    ]);
  });

  test('is left with Ctrl-C and goes on; its log is then the same', async () => {
    const { run, service, threadId, cli, client, appId } = await newBench();
    service.buildNext({ log: 'whole\nlog' });
    service.pause();
    const out = printed(' builds ');
    const left = run(['build', threadId, '--', 'make'], out);
    await out.seen;
    cli.interrupt();
    const { exit, stderr } = await left;
    const [build] = (await client.builds.list(appId, threadId)).items;
    expect(exit).toBe(130);
    expect(stderr).toContain(`The build goes on. Its log: headrace logs -f ${build!.id}\n`);
    const follow = run(['logs', '-f']);
    service.resume();
    expect(await follow).toMatchObject({ exit: 0, stdout: 'whole\nlog', stderr: '' });
    expect((await client.builds.get(appId, build!.id)).status).toBe('ready');
  });

  test('is cancelled by a second Ctrl-C', async () => {
    const { run, service, threadId, cli, client, appId } = await newBench();
    service.pause();
    const [started, told] = [printed(' builds '), printed('Ctrl-C again within 2 s cancels the build.')];
    const ended = run(['build', threadId, '--', 'make'], {
      terminal: {},
      onOutput(text) {
        started.onOutput(text);
        told.onOutput(text);
      },
    });
    await started.seen;
    cli.interrupt();
    await told.seen;
    cli.interrupt();
    const { exit, stderr } = await ended;
    expect([exit, stderr.endsWith('The build is cancelled.\n')]).toEqual([130, true]);
    const [build] = (await client.builds.list(appId, threadId)).items;
    expect(build).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  });

  test('whose answer was lost is continued by the same command: one build', async () => {
    let isCut = true;
    const { run, service, threadId, cli, client, appId } = await newBench(({ url, send, method }) => {
      if (method !== 'POST' || !isCut) return undefined;
      expect(url.pathname).toMatch(/\/builds$/);
      return send().then(() => {
        cli.interrupt();
        throw new TypeError('cut');
      });
    });
    const lost = await run(['build', threadId, '--', 'make']);
    expect(lost.exit).toBe(130);
    isCut = false;
    await service.idle();
    const again = await run(['build', threadId, '--', 'make']);
    expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining('Continuing the same command')]);
    expect((await client.builds.list(appId, threadId)).items).toHaveLength(1);
  });

  test('--watch builds each new source, one at a time, until Ctrl-C', async () => {
    const { run, service, threadId, cli, client, appId, sourceId } = await newBench();
    const first = printed('Waiting for a new source.');
    const second = printed('second log');
    service.buildNext({ log: 'first log\n', exitCode: 1 });
    service.buildNext({ log: 'second log\n' });
    const watching = run(['build', threadId, '--watch', '--', 'make'], {
      onOutput(text) {
        first.onOutput(text);
        second.onOutput(text);
      },
    });
    await first.seen;
    const edited = await client.edits.create(appId, threadId, {
      expectedSourceId: sourceId,
      changes: [{ path: 'a.txt', content: 'a\n' }],
    });
    await second.seen;
    cli.interrupt();
    expect(await watching).toMatchObject({ exit: 130, stdout: 'first log\nsecond log\n' });
    const builds = (await client.builds.list(appId, threadId)).items;
    expect(builds.map((build) => build.sourceId)).toEqual([edited.id, sourceId]);
  });

  test('refuses what it cannot do before anything is sent', async () => {
    const { run, service, threadId } = await newBench();
    const before = service.requests.length;
    for (const argv of [
      ['build', threadId, '--watch', '--source', 'src_1', '--', 'make'],
      ['build', threadId, '--watch', '--json', '--', 'make'],
      ['build', threadId, 'make', '--', 'make'],
      ['build', threadId, '--timeout', 'long', '--', 'make'],
      ['build', '--', 'make'],
    ])
      expect([argv, (await run(argv)).exit]).toEqual([argv, 2]);
    expect(service.requests.length).toBe(before);
  });
});

describe('logs', () => {
  test('go whole and in order to a pipe, and in whole lines, escaped, to a terminal', async () => {
    const parts = ['a\r', '\nhalf ', 'line\n\u001b[2J\u001b]0;title\u0007', '', 'gone€\n', 'end'];
    const { run, threadId } = await newBench(servedLogs(parts));
    await run(['build', threadId, '--json', '--', 'make']);
    expect((await run(['logs', '-f'])).stdout).toBe(parts.join(''));
    const pieces: string[] = [];
    const seen = await run(['logs', '-f'], { terminal: {}, onOutput: (text) => pieces.push(text) });
    expect(seen.exit).toBe(0);
    expect(pieces).toEqual(['a\n', 'half line\n', '␛[2J␛]0;title␇gone€\n', 'end\n']);
    expect((await run(['logs', '-f', '--jsonl'])).stdout).toBe(
      parts.flatMap((text) => (text === '' ? [] : [`${JSON.stringify({ text })}\n`])).join(''),
    );
  });

  test('wait for a service that is away, which is said once', async () => {
    const { run, threadId, service } = await newBench();
    service.buildNext({ log: 'log\n' });
    await run(['build', threadId, '--json', '--', 'make']);
    service.failNext('builds.logs', { code: 'network', times: 7 });
    const logs = await run(['logs', '-f']);
    expect([logs.exit, logs.stdout]).toEqual([0, 'log\n']);
    expect(logs.stderr).toMatch(/^Waiting for the service: [^\n]+\nThe service is back\.\n$/);
  });

  test('end with 4 when the key is refused later', async () => {
    const { run, threadId } = await newBench(({ url }) => {
      if (!logsPath.test(url.pathname)) return undefined;
      if (url.searchParams.get('offset') !== '0')
        return json({ ok: false, error: { code: 'unauthenticated', message: 'The key is revoked.' } }, 401);
      return json({
        ok: true,
        logs: { text: 'one\n', byteSize: 4, truncated: false, nextOffset: 4, ended: false },
      });
    });
    const { exit, stdout, stderr } = await run(['build', threadId, '--', 'make']);
    expect(stdout).toBe('one\n');
    expect([exit, stderr]).toEqual([4, expect.stringContaining('The key is revoked.')]);
  });

  test('without --follow are what there is now', async () => {
    const { run, threadId, service } = await newBench();
    service.buildNext({ log: 'no newline' });
    const { build } = (await run(['build', threadId, '--json', '--', 'make'])).json();
    expect(await run(['logs'])).toMatchObject({ exit: 0, stdout: 'no newline', stderr: '' });
    expect((await run(['logs', build.id, '--json'])).json()).toEqual({
      ok: true,
      logs: { text: 'no newline', byteSize: 10, truncated: false, nextOffset: 10, ended: true },
    });
    expect((await run(['logs', 'bld_01jd2s3x4k5m6n7p8q9r0s1t2v'])).exit).toBe(5);
  });
});

describe('builds', () => {
  test('are listed by thread, shown and cancelled', async () => {
    const { run, threadId, service } = await newBench();
    service.pause();
    const out = printed(' builds ');
    const building = run(['build', threadId, '--', 'echo \u001b[31m'], out);
    await out.seen;
    const listed = await run(['builds', '--thread', threadId]);
    expect(listed.stdout).toMatch(/^bld_\w+\t(queued|building)\techo ␛\[31m\tthr_\w+\tjust now\n$/);
    const cancelled = await run(['builds', 'cancel', '@last', '--json']);
    expect([cancelled.exit, cancelled.json().build]).toMatchObject([0, { status: 'failed' }]);
    expect(await building).toMatchObject({ exit: 1 });
    expect((await run(['builds', 'show'])).stdout).toContain(
      'Error      cancelled: The build was cancelled.\n',
    );
    expect((await run(['builds', 'cancel', '@last'])).exit).toBe(6);
    expect((await run(['builds', '--all-apps', '--thread', threadId])).exit).toBe(2);
  });
});

describe('without a thread', () => {
  test('the head or a named source is built; lists tell such builds from others', async () => {
    const { run, threadId, sourceId, client, appId } = await newBench();
    const ofThread = (await run(['build', threadId, '--json', '--', 'make'])).json().build;
    const { headSourceId } = await client.apps.get(appId);
    const ofHead = (await run(['build', 'none', '--json', '--', 'make'])).json().build;
    expect(ofHead).toMatchObject({ status: 'ready', threadId: null, sourceId: headSourceId });
    const named = await run(['build', 'none', '-s', sourceId, '--json', '--', 'make']);
    expect(named.json().build).toMatchObject({ threadId: null, sourceId });
    // The thread of the last command stays the default.
    expect((await run(['build', '--json', '--', 'make'])).json().build).toMatchObject({ threadId });
    expect((await run(['builds', 'show', ofHead.id])).stdout).toMatch(/^Thread +none$/m);
    const ids = async (...filters: string[]) =>
      (await run(['builds', '--json', ...filters])).json().builds.map(({ id }: { id: string }) => id);
    expect(await ids('--thread', 'none')).toEqual([named.json().build.id, ofHead.id]);
    expect(await ids('--thread', threadId, '--status', 'ready')).toContain(ofThread.id);
    expect(await ids('--source', 'head', '--thread', 'none', '--status', 'failed')).toEqual([]);
    expect((await run(['builds', '--thread', 'none'])).stdout).toMatch(/\tnone\tjust now\n$/);
    for (const refused of [
      ['builds', '--all-apps', '--source', sourceId],
      ['build', 'none', '--watch', '--', 'make'],
      ['preview', threadId, '--source', sourceId, '--port', '1', '--', 'x'],
      ['preview', 'none', '--stop', '--source', sourceId],
    ])
      expect((await run(refused)).exit).toBe(2);
  });
});

describe('artifact', () => {
  test('never replaces files that differ, except with --force', async () => {
    const { run, threadId, service, cli } = await newBench();
    service.buildNext({ files: { 'a.txt': 'new\n', 'b.txt': 'b\n' } });
    await run(['build', threadId, '--json', '--', 'make']);
    mkdirSync(join(cli.cwd, 'dist'));
    writeFileSync(join(cli.cwd, 'dist/a.txt'), 'mine\n');
    const refused = await run(['artifact']);
    expect([refused.exit, refused.stdout]).toEqual([6, '']);
    expect(refused.stderr).toContain('→ --force replaces them');
    expect(readdirSync(join(cli.cwd, 'dist'))).toEqual(['a.txt']);
    const forced = await run(['artifact', '--force']);
    expect([forced.exit, forced.stdout, forced.stderr]).toEqual([0, 'dist\n', 'Wrote 2 files to dist\n']);
    expect(readFileSync(join(cli.cwd, 'dist/a.txt'), 'utf8')).toBe('new\n');
    expect((await run(['artifact', '-o', 'dist'])).stderr).toBe('Wrote 0 files to dist, 2 already there\n');
    const { build, ok } = (await run(['artifact', '--json'])).json();
    expect([ok, build.fileCount]).toEqual([true, 2]);
  });

  test('is an archive with the exact bytes for a name that ends in .tar.gz', async () => {
    const { run, threadId, client, appId, cli } = await newBench();
    const { build } = (await run(['build', threadId, '--json', '--', 'make'])).json();
    expect(await run(['artifact', '-o', 'site.tar.gz'])).toMatchObject({ exit: 0, stdout: 'site.tar.gz\n' });
    const expected = Buffer.from(await client.builds.artifact(appId, build.id));
    expect(readFileSync(join(cli.cwd, 'site.tar.gz')).equals(expected)).toBe(true);
    expect((await run(['artifact', '-o', 'site.tar.gz'])).exit).toBe(6);
    expect((await run(['artifact', '-o', 'site.tar.gz', '--force'])).exit).toBe(0);
    expect(readdirSync(cli.cwd)).toEqual(['site.tar.gz']);
  });

  test('with another hash than the build’s is not written', async () => {
    const { run, threadId, cli } = await newBench(({ url }) =>
      url.pathname.endsWith('/artifact') ? Promise.resolve(new Response('other bytes')) : undefined,
    );
    await run(['build', threadId, '--json', '--', 'make']);
    for (const output of ['-', 'a.tgz', 'folder']) {
      const refused = await run(['artifact', '-o', output]);
      expect([refused.exit, refused.stdout, refused.stderr]).toEqual([
        1,
        '',
        expect.stringContaining('SHA-256 differs'),
      ]);
    }
    expect(readdirSync(cli.cwd)).toEqual([]);
  });

  test('lists its manifest, and is not there for a build that failed', async () => {
    const { run, threadId, service } = await newBench();
    service.buildNext({ files: { 'a.txt': 'a\n' } });
    await run(['build', threadId, '--json', '--', 'make']);
    expect((await run(['builds', 'manifest'])).stdout).toMatch(/^0644\t2\t[0-9a-f]{64}\ta\.txt\n$/);
    expect((await run(['builds', 'manifest', '--json'])).json().manifest.fileCount).toBe(1);
    expect((await run(['artifact', '-o', '-', '--json'])).exit).toBe(2);
    expect((await run(['artifact', '-o', '-'], { terminal: {} })).exit).toBe(2);
    service.buildNext({ exitCode: 1 });
    await run(['build', threadId, '--json', '--', 'make']);
    expect((await run(['artifact'])).exit).toBe(6);
  });
});
