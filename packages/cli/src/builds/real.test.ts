/** Builds and previews on a real service, with the command line in processes of their own. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { start } from '../events/events.fixture.ts';

const server = await startTestServer();
afterAll(() => server.close());
const status = server.service.ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);

const P = '/api/platform/v1';
const PAGE = `require('http').createServer((_, res) => res.end('shown')).listen(3210);\n`;

async function newShop() {
  const { app } = (await server.call('POST', `${P}/apps`, { name: 'Shop' })).body;
  const url = `${P}/apps/${app.id}`;
  const files = [{ path: 'server.cjs', content: PAGE }];
  const { source } = (await server.call('POST', `${url}/sources`, { files })).body;
  await server.call('POST', `${url}/source-head/initialize`, { sourceId: source.id });
  const { thread } = (await server.call('POST', `${url}/threads`, {})).body;
  const cwd = mkdtempSync(join(tmpdir(), 'headrace-builds-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const env = {
    HEADRACE_URL: server.base,
    HEADRACE_KEY: server.key,
    HEADRACE_APP: app.id as string,
    // Opens nothing.
    BROWSER: 'true',
  };
  const cli = testCli({ url: server.base, key: server.key });
  return {
    url,
    cwd,
    threadId: thread.id as string,
    start: (argv: readonly string[]) => start(argv, cwd, env),
    run: (argv: readonly string[]) => cli.run(argv, { env, cwd }),
    logs: async (id: string) =>
      (await server.call('GET', `${url}/builds/${id}/logs`)).body.logs.text as string,
  };
}

const bytesOf = async (stream: Readable): Promise<Buffer> => Buffer.concat(await stream.toArray());

describe.skipIf(!status?.ok)('on a real service', () => {
  test('a build is left with Ctrl-C; logs -f prints the same bytes as the API, and the artifact is exact', async () => {
    const { start: begin, run, threadId, url, logs, cwd } = await newShop();
    const command =
      "for i in 1 2 3 4; do echo out$i; printf 'e\\033[31m%s' ä€; sleep 0.4; done; mkdir -p dist/a; echo x > dist/a/b.txt; echo y > dist/c";
    const left = begin(['build', threadId, '--', command]);
    let seen = '';
    left.child.stdout.on('data', (part: Buffer) => {
      seen += part.toString();
      if (seen.includes('out2')) left.child.kill('SIGINT');
    });
    expect(await left.ended).toBe(130);
    const id = /headrace logs -f (bld_\w+)\n/.exec(left.stderr())![1]!;
    expect(seen).not.toContain('out4');
    const follow = begin(['logs', '-f', id]);
    const [followed] = await Promise.all([bytesOf(follow.child.stdout), follow.ended]);
    const text = await logs(id);
    expect([followed.toString(), text.startsWith(seen), text.match(/out/g)!.length]).toEqual([text, true, 4]);

    const archive = await fetch(`${server.base}${url}/builds/${id}/artifact`, {
      headers: { 'x-api-key': server.key },
    });
    const expected = Buffer.from(await archive.arrayBuffer());
    const piped = begin(['artifact', '-o', '-']);
    expect((await bytesOf(piped.child.stdout)).equals(expected)).toBe(true);
    expect(await piped.ended).toBe(0);
    expect(await run(['artifact', id, '-o', 'out'])).toMatchObject({ exit: 0, stdout: 'out\n' });
    expect(readFileSync(join(cwd, 'out/a/b.txt'), 'utf8')).toBe('x\n');
  });

  test('a build that fails says why; without a command the last one is repeated; lists have it', async () => {
    const { run, threadId } = await newShop();
    const failed = await run([
      'build',
      threadId,
      '--setup',
      '--directory',
      'out',
      '--',
      'echo broken; exit 3',
    ]);
    expect([failed.exit, failed.stdout]).toEqual([1, 'broken\n']);
    expect(failed.stderr).toMatch(/command_failed\. The command exited with 3\. Its last output: broken\n/);
    const again = await run(['build', threadId, '--json']);
    expect([again.exit, again.json().build]).toMatchObject([
      1,
      { command: 'echo broken; exit 3', outputDirectory: 'out', setup: true, exitCode: 3 },
    ]);
    expect((await run(['builds', '--json', '--status', 'failed'])).json().builds).toHaveLength(2);
    expect((await run(['builds', '--json', '--all-apps', '--limit', '1'])).json().builds).toHaveLength(1);
    expect((await run(['logs', again.json().build.id.slice(4, 24)])).exit).toBe(0);
    const last = (await run(['events', '--last', '2'])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [newest] = (await run(['events', '--last', '1', '--json'])).json().events;
    expect([last.length, last[1]]).toEqual([2, newest]);
    expect(Number(last[0].sequence)).toBeLessThan(Number(last[1].sequence));
  });

  test('a preview is ready at its address, found by open, and stopped', async () => {
    const { run, threadId } = await newShop();
    expect((await run(['open'])).exit).toBe(5);
    const made = await run(['preview', threadId, '--port', '3210', '--', 'node', 'server.cjs']);
    expect([made.exit, made.stdout]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/[0-9a-z]{26}\.localhost:\d+\/\n$/),
    ]);
    const opened = await run(['open', threadId, '--json']);
    expect(`${opened.json().preview.url}\n`).toBe(made.stdout);
    expect((await run(['previews', '--status', 'ready'])).stdout).toContain(made.stdout.trim());
    expect((await run(['preview', '--stop', '--json'])).json().preview.status).toBe('stopped');
    const none = await run(['preview', '--stop']);
    expect([none.exit, none.stderr]).toEqual([5, expect.stringContaining('no open preview')]);
    const ofApp = await run(['preview', 'none', '--port', '3210', '--json', '--', 'node', 'server.cjs']);
    expect(ofApp.json().preview).toMatchObject({ threadId: null, follow: 'head', status: 'ready' });
    expect((await run(['open', threadId])).exit).toBe(5);
    expect((await run(['open', 'none', '--json'])).json().preview.id).toBe(ofApp.json().preview.id);
    expect((await run(['previews', '--thread', 'none', '--json'])).json().previews).toHaveLength(1);
    expect((await run(['preview', 'none', '--stop', '--json'])).json().preview.status).toBe('stopped');
    const pinned = await run(['preview', 'none', '-s', 'head', '-p', '3210', '--json', '--', 'exit 1']);
    expect(pinned.json().preview).toMatchObject({ follow: null, sourceId: ofApp.json().preview.sourceId });
    const failed = await run(['preview', '--port', '3210', '--', 'echo gone; exit 1']);
    expect([failed.exit, failed.stderr]).toEqual([1, expect.stringContaining('command_ended')]);
  });
});

test('a log of 20 MB passes to a slow reader whole, and is never held in memory', async () => {
  const part = `${'x'.repeat(99)}\n`.repeat(2_560);
  const total = 80;
  let served = 0;
  const service = createServer((request, response) => {
    const at = Number(new URL(request.url!, 'http://x').searchParams.get('offset')) / part.length;
    served = at + 1;
    const logs = {
      text: part,
      byteSize: part.length * total,
      truncated: false,
      nextOffset: served * part.length,
      ended: served === total,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, logs }));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  const cwd = mkdtempSync(join(tmpdir(), 'headrace-log-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const { child, ended } = start(['logs', '-f', `bld_${'0'.repeat(26)}`], cwd, {
    HEADRACE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    HEADRACE_KEY: 'hrk_test',
    HEADRACE_APP: `prj_${'0'.repeat(26)}`,
  });
  // Nobody reads: the command asks for no more than a pipe and one part hold.
  await expect.poll(() => served, { timeout: 10_000 }).toBeGreaterThan(0);
  await new Promise((resolve) => child.stdout.once('readable', resolve));
  let before = 0;
  await expect.poll(() => before === (before = served), { interval: 300 }).toBe(true);
  expect(served).toBeLessThan(8);
  const whole = await bytesOf(child.stdout);
  expect([whole.length, whole.equals(Buffer.from(part.repeat(total))), await ended]).toEqual([
    part.length * total,
    true,
    0,
  ]);
});
