import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newBench, printed } from '../builds/builds.fixture.ts';
import { onPort, start } from './events.fixture.ts';

type Bench = Awaited<ReturnType<typeof newBench>>;

const lines = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { id: string });

let names = 0;
/** Publishes an event or more. */
async function change({ client, appId }: Bench, count = 1): Promise<void> {
  for (let at = 0; at < count; at++) await client.apps.update(appId, { name: `Shop ${++names}` });
}

async function listed({ client, appId }: Bench) {
  const events = [];
  for await (const event of client.events.replay({ appId })) events.push(event);
  return events;
}

describe('events', () => {
  test('are JSON lines in order to a pipe, words to a terminal, one document with --json', async () => {
    const bench = await newBench();
    const all = await listed(bench);
    expect(lines((await bench.run(['events'])).stdout)).toEqual(all);
    expect((await bench.run(['events', '--limit', '2', '--json'])).json()).toEqual({
      ok: true,
      events: all.slice(0, 2),
      nextCursor: all[1]!.cursor,
      hasMore: true,
    });
    expect(lines((await bench.run(['events', '--since', all[1]!.cursor, '--jsonl'])).stdout)).toEqual(
      all.slice(2),
    );
    const shown = await bench.run(['events', '--type', 'thread.updated'], {
      terminal: {},
      env: { TERM: 'dumb' },
    });
    const thread = all.find(({ type }) => type === 'thread.updated')!;
    expect(shown.stdout.split('\n')[0]).toMatch(
      new RegExp(
        String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  thread\.updated {13} ${thread.data.id}  ${thread.data.status}$`,
      ),
    );
    const types = ['--type', 'platform.head.updated', '--type', 'platform.app.created'];
    expect(lines((await bench.run(['events', ...types])).stdout).map(({ id }) => id)).toEqual(
      all.filter(({ type }) => types.includes(type)).map(({ id }) => id),
    );
    expect(lines((await bench.run(['events', '--thread', bench.threadId])).stdout)).toEqual(
      (await listed(bench))
        .filter(({ threadId }) => threadId !== null)
        .map((event) => expect.objectContaining({ id: event.id })),
    );
  });

  test('of all apps need no app', async () => {
    const bench = await newBench();
    await bench.client.apps.create({ name: 'Other' });
    const { stdout } = await bench.cli.run(['events', '--type', 'platform.app.created']);
    expect(lines(stdout)).toHaveLength(2);
    expect((await bench.run(['events', '--all-apps', '--type', 'platform.app.created'])).stdout).toBe(stdout);
  });

  test('are followed, over lost streams, until Ctrl-C; a gap is told', async () => {
    const bench = await newBench();
    const before = await listed(bench);
    const out = printed(before.at(-1)!.id);
    const gap = printed('EVENTS ARE MISSING');
    let text = '';
    const following = bench.run(['events', '--follow', '--quiet'], {
      onOutput(part) {
        text += part;
        out.onOutput(part);
        gap.onOutput(part);
      },
    });
    await out.seen;
    await change(bench);
    bench.service.dropStreams();
    await change(bench);
    const all = await listed(bench);
    await expect.poll(() => text.includes(all.at(-1)!.id), { timeout: 10_000 }).toBe(true);
    bench.service.expireCursors();
    await gap.seen;
    await change(bench);
    const last = (await listed(bench)).at(-1)!;
    await expect.poll(() => text.includes(last.id), { timeout: 10_000 }).toBe(true);
    bench.cli.interrupt();
    const { exit, stdout, stderr } = await following;
    expect([exit, lines(stdout).map(({ id }) => id)]).toEqual([130, [...all, last].map(({ id }) => id)]);
    expect(stderr).toContain('EVENTS ARE MISSING here: the service no longer keeps');
  });

  test('wait for a service that is away, which is said once; a key that is refused later ends with 4', async () => {
    let answer: Response | 'away' | undefined;
    const bench = await newBench(({ url }) => {
      if (!url.pathname.endsWith('/stream') || answer === undefined) return undefined;
      return answer === 'away' ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(answer);
    });
    answer = 'away';
    const away = printed('Waiting for the service');
    const following = bench.run(['events', '-f'], away);
    await away.seen;
    const error = { code: 'unauthenticated', message: 'The key is revoked.' };
    answer = Response.json({ ok: false, error }, { status: 401 });
    const { exit, stderr } = await following;
    expect([exit, stderr.match(/Waiting for the service/g)]).toEqual([4, ['Waiting for the service']]);
    expect(stderr).toContain('The key is revoked.');
  });

  test('end with the app', async () => {
    const bench = await newBench();
    const out = printed('platform.app.updated');
    const following = bench.run(['events', '-f'], out);
    await change(bench);
    await out.seen;
    await expect
      .poll(() => bench.service.requests.some(({ operation }) => operation === 'events.stream'))
      .toBe(true);
    await bench.client.apps.delete(bench.appId);
    const { exit, stdout } = await following;
    expect([exit, stdout.includes('platform.app.deleted')]).toEqual([0, true]);
  });

  test.each([
    ['--follow --json'],
    ['--follow --limit 3'],
    ['--limit 3 --last 3'],
    ['--since x --last 3'],
    ['--project prj_1'],
    ['--direct --all-apps'],
    ['--save a --json'],
    ['--save a --since x'],
    ['--save .'],
    ['--save no/such/folder'],
    ['--limit 0'],
  ])('refuse %s', async (options) => {
    const bench = await newBench();
    const before = bench.service.requests.length;
    const { exit, stdout } = await bench.run(['events', ...options.split(' ')]);
    expect([exit, options.includes('json') || stdout === '', bench.service.requests.length]).toEqual([
      2,
      true,
      before,
    ]);
  });
});

describe('events --save', () => {
  test('goes on after its last line, whatever was torn off', async () => {
    const bench = await newBench();
    const path = join(bench.cli.cwd, 'events.jsonl');
    for (let round = 0; round < 20; round++) {
      await change(bench, 3);
      const { exit, stdout } = await bench.run(['events', '--save', 'events.jsonl']);
      expect([exit, stdout]).toEqual([0, '']);
      expect(lines(readFileSync(path, 'utf8'))).toEqual(await listed(bench));
      // As if the process had died in the middle of a write.
      truncateSync(path, Math.floor((statSync(path).size * ((round * 7) % 20)) / 20) + (round % 3));
      if (round % 5 === 4) appendFileSync(path, Buffer.alloc(9));
    }
    await bench.run(['events', '--save', 'events.jsonl']);
    expect(lines(readFileSync(path, 'utf8'))).toEqual(await listed(bench));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('leaves the files of others alone', async () => {
    const bench = await newBench();
    const path = join(bench.cli.cwd, 'mine');
    for (const content of [
      'hello',
      'hello\n',
      '{\n "a": 1\n}\n',
      '{"a":1}',
      '{"id":1}\n',
      'x'.repeat(5_000_000),
    ]) {
      writeFileSync(path, content);
      const { exit, stderr } = await bench.run(['events', '--save', 'mine']);
      expect([exit, stderr]).toEqual([2, expect.stringContaining('its last line is no event')]);
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
  });

  test('refuses a file with other filters, and one whose events are no longer all kept', async () => {
    const bench = await newBench();
    await bench.run(['events', '--save', 'a']);
    const other = await bench.run(['events', '--save', 'a', '--thread', bench.threadId]);
    expect([other.exit, other.stderr]).toEqual([
      2,
      expect.stringContaining('another app, organization or filter'),
    ]);
    const before = readFileSync(join(bench.cli.cwd, 'a'), 'utf8');
    bench.service.expireCursors();
    const missing = await bench.run(['events', '--save', 'a']);
    expect([missing.exit, missing.stderr]).toEqual([5, expect.stringContaining('Events are missing after')]);
    // With --follow it goes on, and says so.
    const gap = printed('EVENTS ARE MISSING');
    const following = bench.run(['events', '--save', 'a', '-f'], gap);
    await gap.seen;
    await change(bench);
    const last = (await listed(bench)).at(-1)!;
    await expect
      .poll(() => readFileSync(join(bench.cli.cwd, 'a'), 'utf8').includes(last.id), { timeout: 10_000 })
      .toBe(true);
    bench.cli.interrupt();
    expect((await following).exit).toBe(130);
    expect(lines(readFileSync(join(bench.cli.cwd, 'a'), 'utf8').slice(before.length))).toEqual([last]);
  });

  test('is refused while another process saves to the file; after 20 times kill -9, each event is there once', async () => {
    const bench = await newBench();
    const { url, key } = await onPort(bench.service);
    const folder = mkdtempSync(join(tmpdir(), 'headrace-events-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'events.jsonl');
    const env = { HEADRACE_URL: url, HEADRACE_KEY: key, HEADRACE_APP: bench.appId };
    const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    for (let round = 0; round < 20; round++) {
      const from = size();
      const { child, ended, stderr } = start(['events', '--save', path, '--follow'], folder, env);
      await change(bench, 5);
      await expect.poll(() => size() > from, { timeout: 20_000, interval: 5 }).toBe(true);
      if (round === 0) {
        const second = await bench.run(['events', '--save', path]);
        expect([second.exit, second.stderr]).toEqual([
          7,
          expect.stringContaining('Another process saves events'),
        ]);
      }
      const publishing = change(bench, round);
      child.kill('SIGKILL');
      expect([await ended, stderr()]).toEqual(['SIGKILL', expect.anything()]);
      await publishing;
      // The kill seldom falls into a write: this tears the last line at any byte.
      truncateSync(path, Math.max(0, size() - ((round * 37) % 400)));
    }
    const { exit } = await bench.run(['events', '--save', path]);
    expect([exit, lines(readFileSync(path, 'utf8'))]).toEqual([0, await listed(bench)]);
  });
});
