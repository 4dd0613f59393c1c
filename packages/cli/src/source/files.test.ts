import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { linkedFolder, writeFiles } from './source.fixture.ts';

const BINARY = Buffer.from([0, 255, 1, 10]);

async function pushed() {
  const service = createTestService();
  const linked = await linkedFolder(
    { 'a.txt': 'a\u001b[2J\r\nb', 'bin/run': '#!', 'bin/日本.sh': '', 'logo.png': BINARY },
    service,
  );
  const first = (await linked.run(['push', '-m', 'First\u001b[31m'])).stdout.trim();
  return { service, first, ...linked };
}

test('the files of a version are listed: all of them, or those below a prefix', async () => {
  const { run } = await pushed();
  expect((await run(['files', '--prefix', 'bin/'])).stdout).toBe('2\t0755\tbin/run\n0\t0755\tbin/日本.sh\n');
  const { files, hasMore } = (await run(['files', '--json'])).json();
  expect([files.length, hasMore]).toEqual([5, false]);
  const none = await run(['files', '--prefix', 'x']);
  expect([none.exit, none.stdout, none.stderr]).toEqual([
    0,
    '',
    expect.stringContaining('has no such files.'),
  ]);
});

test('a file is printed to a pipe as it is, of the head or any version', async () => {
  const { run, service, appId, first } = await pushed();
  expect((await run(['cat', 'a.txt'])).stdout).toBe('a\u001b[2J\r\nb');
  expect((await run(['cat', 'logo.png'])).bytes).toEqual(BINARY);
  service.moveHead(appId, { 'a.txt': 'new' });
  expect((await run(['cat', 'a.txt'])).stdout).toBe('new');
  expect((await run(['cat', 'a.txt', '--source', first])).stdout).toContain('\u001b[2J');
  const missing = await run(['cat', 'none.txt']);
  expect([missing.exit, missing.stdout]).toEqual([5, '']);
});

test('the log has the heads, or all versions, newest first, with the hostile parts of messages shown', async () => {
  const { run, service, appId, first, folder } = await pushed();
  const head = service.moveHead(appId, { 'a.txt': 'new' });
  writeFiles(folder, { 'a.txt': 'mine' });
  const mine = (await run(['push', '-m', 'Mine'])).stdout.trim();
  expect((await run(['log'])).stdout).toBe(
    `2\t${head}\t-\tapply\tjust now\n1\t${first}\tFirst␛[31m\timport\tjust now\n`,
  );
  const all = (await run(['log', '--sources'])).stdout.split('\n').map((line) => line.split('\t')[0]);
  expect(all).toEqual([mine, head, first, '']);
  const one = await run(['log', '--limit', '1', '--json']);
  expect(one.json()).toMatchObject({
    heads: [{ sourceId: head, revision: 2 }],
    nextCursor: null,
    hasMore: true,
  });
  expect(
    (await run(['log', '--jsonl'])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).revision),
  ).toEqual([2, 1]);
});

test('versions have names: the head, the last one, a thread’s, an id’s beginning, a message', async () => {
  const { run, service, appId, first } = await pushed();
  const client = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const { thread } = await client.threads.create(appId, { title: 'Fix', sourceId: first });
  for (const name of ['head', '@head', '@last', first.slice(4), first, `thread:${thread.id}`, '~first'])
    expect([name, (await run(['cat', 'bin/run', '-s', name])).stdout]).toEqual([name, '#!']);
  const short = await run(['cat', 'a.txt', '-s', 'src_1']);
  expect([short.exit, short.stderr]).toEqual([2, expect.stringContaining('"src_1" is no source')]);
});
