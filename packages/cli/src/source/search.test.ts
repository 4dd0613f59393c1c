/** On a real service, which searches. */
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linkedFolder } from './source.fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ HEADRACE_ROLES: 'api' });
}, 60_000);
afterAll(() => server?.close());

async function pushed() {
  const linked = await linkedFolder(
    {
      'a.txt': 'one\ntwo hit\nthree\nfour hit\nfive\nsix\nseven\neight Hit\n',
      'src/b.ts': 'const hit = /hit/;\u001b[2J\n',
      'logo.bin': Buffer.from([0, 1]),
    },
    { url: server.base, key: server.key },
  );
  const source = (await linked.run(['push'])).stdout.trim();
  return { source, ...linked };
}

test('a line that matches is its path, number and text', async () => {
  const { run } = await pushed();
  const { exit, stdout, stderr } = await run(['search', 'hit']);
  expect([exit, stdout, stderr]).toEqual([
    0,
    'a.txt:2:two hit\na.txt:4:four hit\nsrc/b.ts:1:const hit = /hit/;\u001b[2J\n',
    'Not searched: 1 binary file.\n',
  ]);
  expect((await run(['search', '^.i', '-E', '-i', '--include', '*.txt'])).stdout).toBe(
    'a.txt:5:five\na.txt:6:six\na.txt:8:eight Hit\n',
  );
  expect((await run(['search', 'hit', '--exclude', 'src/**', '--exclude', '*.bin'])).stderr).toBe('');
  const none = await run(['search', 'nothing', '--include', 'a.txt']);
  expect([none.exit, none.stdout, none.stderr]).toEqual([0, '', 'No line matches.\n']);
});

test('the lines around matches are printed once, in groups', async () => {
  const { run } = await pushed();
  expect((await run(['search', 'hit', '-i', '-C', '1', '--include', 'a.txt'])).stdout).toBe(
    [
      'a.txt-1-one',
      'a.txt:2:two hit',
      'a.txt-3-three',
      'a.txt:4:four hit',
      'a.txt-5-five',
      '--',
      'a.txt-7-seven',
      'a.txt:8:eight Hit\n',
    ].join('\n'),
  );
});

test('a document has all that was found, in any source', async () => {
  const { run, source } = await pushed();
  const { matches, hasMore, skipped } = (
    await run(['search', 'hit', '--json', '--limit', '2', '-s', source])
  ).json();
  expect([matches.map((m: { line: number }) => m.line), hasMore]).toEqual([[2, 4], true]);
  expect(skipped).toEqual({ binary: 0, tooLarge: 0 });
  const { stdout, stderr } = await run(['search', 'hit', '--jsonl', '--limit', '1']);
  expect(JSON.parse(stdout)).toMatchObject({ path: 'a.txt', column: 5 });
  expect(stderr).toContain('There are more: --limit 2 shows more.');
});

test('a terminal gets colours, and no control characters of files', async () => {
  const { run } = await pushed();
  const { stdout } = await run(['search', 'hit', '--include', '*.ts'], { terminal: { columns: 80 } });
  expect(stdout).toContain('\u001b[35msrc/b.ts\u001b[39m\u001b[36m:\u001b[39m\u001b[32m1\u001b[39m');
  expect(stdout).toContain('const \u001b[31mhit\u001b[39m = /\u001b[31mhit\u001b[39m/;␛[2J\n');
});

test('a wrong expression or glob is wrong use', async () => {
  const { run } = await pushed();
  const wrong = await run(['search', '(', '--regex']);
  expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('missing closing )')]);
  expect((await run(['search', 'a', '--include', '['])).exit).toBe(2);
});
