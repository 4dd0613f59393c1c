import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';

const rootFile = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')) as unknown;

interface Seen {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Records what arrives, and answers it all alike. */
function recording(answer: () => Response = () => Response.json({ ok: true })) {
  const seen: Seen[] = [];
  const service = {
    url: 'https://headrace.test',
    key: 'hrk_test',
    async fetch(input: string | URL | Request, init: RequestInit = {}) {
      const { pathname, search } = new URL(input as string);
      const headers = Object.fromEntries(new Headers(init.headers));
      const body = await new Response(init.body ?? null).text();
      seen.push({ method: init.method ?? 'GET', path: pathname + search, headers, body });
      return answer();
    },
  };
  return { cli: testCli(service), seen };
}
const sentBy = async (argv: string[], options = {}) => {
  const { cli, seen } = recording();
  const ran = await cli.run(['api', ...argv], options);
  expect([ran.exit, ran.stderr]).toEqual([0, '']);
  return seen[0]!;
};

describe('api', () => {
  test('calls every operation of the document, with a key for each write', async () => {
    const { paths } = rootFile('openapi.json') as { paths: Record<string, Record<string, object>> };
    const { cli, seen } = recording();
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
    const app = `prj_${'0'.repeat(26)}`;
    for (const [method, path] of operations) {
      const filled = path.replaceAll(/\{(?!appId|projectId)\w+\}/g, 'x_1');
      const { exit } = await cli.run(['api', method, filled, '--app', app]);
      expect([method, path, exit]).toEqual([method, path, 0]);
    }
    expect(operations.length).toBeGreaterThan(150);
    expect(seen.map(({ method, path }) => [method, path])).toEqual(
      operations.map(([method, path]) => [
        method,
        path.replaceAll(/\{(appId|projectId)\}/g, app).replaceAll(/\{\w+\}/g, 'x_1'),
      ]),
    );
    for (const { method, headers } of seen)
      expect('idempotency-key' in headers, method).toBe(method !== 'GET');
  });

  test('sends fields as the query of a read and the body of a write, by their types', async () => {
    expect(await sentBy(['api/models', '-f', 'a=1'])).toMatchObject({ method: 'POST', body: '{"a":"1"}' });
    expect(
      await sentBy(['GET', '/x?a=0', '-F', 'limit=5', '-f', 'types[]=a', '-f', 'types[]=b']),
    ).toMatchObject({
      method: 'GET',
      path: '/x?a=0&types=a&types=b&limit=5',
      body: '',
    });
    const typed = [
      '-F',
      'n=-1.5',
      '-F',
      'yes=true',
      '-F',
      'no=null',
      '-F',
      'id=007',
      '-F',
      'big=12345678901234567890',
    ];
    const nested = ['-f', 'a[b][c]=x=y', '-F', 'a[d]=2', '-F', 'list[]=1', '-f', 'list[]=1', '-F', 'text=@-'];
    expect(JSON.parse((await sentBy(['/x', ...typed, ...nested], { stdin: 'from stdin' })).body)).toEqual({
      n: -1.5,
      yes: true,
      no: null,
      id: '007',
      big: '12345678901234567890',
      a: { b: { c: 'x=y' }, d: 2 },
      list: ['1', 1],
      text: 'from stdin',
    });
  });

  test('sends bytes as they are, with fields in the query and headers of one’s own', async () => {
    const { cli, seen } = recording();
    writeFileSync(join(cli.cwd, 'body'), 'raw bytes');
    const headers = [
      '-H',
      'Content-Type: text/plain',
      '-H',
      'Idempotency-Key: mine',
      '-H',
      'X-Api-Key: other',
    ];
    await cli.run(['api', 'PUT', '/x', '--input', 'body', '-f', 'q=1', ...headers]);
    expect(seen[0]).toMatchObject({
      method: 'PUT',
      path: '/x?q=1',
      body: 'raw bytes',
      headers: { 'content-type': 'text/plain', 'idempotency-key': 'mine', 'x-api-key': 'hrk_test' },
    });
  });

  test('an interrupted write that is repeated has the same key; another body has its own', async () => {
    const service = createTestService();
    const keys: (string | null)[] = [];
    let isCut = true;
    const cli = testCli({
      ...service,
      fetch: async (input, init) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'));
        const answer = await service.fetch(input, init);
        if (!isCut) return answer;
        cli.interrupt();
        throw new TypeError('cut');
      },
    });
    const create = ['api', 'POST', '/api/platform/v1/apps', '-f', 'name=Shop'];
    expect((await cli.run(create)).exit).toBe(130);
    isCut = false;
    expect((await cli.run(create)).exit).toBe(0);
    expect((await cli.run([...create, '-f', 'externalId=u'])).exit).toBe(0);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
    expect((await cli.run(['apps', 'list', '--json'])).json().apps).toHaveLength(2);
  });

  test('prints answers as they are, with the status and the headers if they are wanted', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const binary = recording(() => new Response(bytes, { headers: { 'content-type': 'application/gzip' } }));
    expect(new Uint8Array((await binary.cli.run(['api', '/x'])).bytes)).toEqual(bytes);
    for (const more of [{ argv: ['--json'] }, { argv: [], terminal: {} }]) {
      const { exit, stderr, stdout } = await binary.cli.run(['api', '/x', ...more.argv], more);
      expect([exit, more.argv.length ? stdout : stderr]).toEqual([
        2,
        expect.stringContaining('application/gzip'),
      ]);
    }
    const { cli } = recording(() => Response.json({ ok: true, title: '\u001b[2J' }));
    expect((await cli.run(['api', '/x'])).stdout).toBe('{"ok":true,"title":"\\u001b[2J"}');
    expect((await cli.run(['api', '/x'], { terminal: {} })).stdout).toBe(
      '{\n  "ok": true,\n  "title": "\\u001b[2J"\n}\n',
    );
    expect((await cli.run(['api', '/x', '-i'])).stdout).toMatch(
      /^HTTP 200\ncontent-type: application\/json\n\n\{/,
    );
    const text = recording(() => new Response('\u001b[2J', { headers: { 'content-type': 'text/plain' } }));
    expect((await text.cli.run(['api', '/x'], { terminal: {} })).stdout).toBe('␛[2J');
  });

  test('reads all pages of a list, as one document or as lines', async () => {
    const cli = testCli(createTestService());
    for (const name of ['a', 'b', 'c', 'd', 'e']) await cli.run(['apps', 'create', name]);
    const list = ['api', '/api/platform/v1/apps', '-F', 'limit=2', '--paginate'];
    const whole = (await cli.run(list)).json();
    expect(whole).toMatchObject({ ok: true, nextCursor: null, hasMore: false });
    expect(whole.apps.map(({ name }: { name: string }) => name)).toEqual(['e', 'd', 'c', 'b', 'a']);
    const lines = (await cli.run([...list, '--jsonl'])).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(whole.apps);
  });

  test('ends as the service answers, with its error', async () => {
    const cli = testCli(createTestService());
    const gone = await cli.run(['api', `/api/platform/v1/apps/prj_${'0'.repeat(26)}`, '--json']);
    expect([gone.exit, gone.json()]).toMatchObject([5, { ok: false, error: { code: 'app_not_found' } }]);
  });

  test.each([
    [['https://evil.example/x'], 'is an address'],
    [['FETCH', '/x'], '"FETCH" is no method: GET, POST'],
    [['/x', '-f', 'a'], '"a" is no field: write KEY=VALUE'],
    [['/x', '-f', '=a'], 'is no field'],
    [['/x', '-f', '__proto__[a]=1'], 'is no key'],
    [['/x', '-f', 'a[__proto__]=1'], 'is no key'],
    [['/x', '-f', 'a[=1'], 'is no key'],
    [['/x', '-f', 'a[][b]=1'], 'is no key'],
    [['/x', '-f', 'a=1', '-F', 'a=2'], '"a" is given twice'],
    [['/x', '-f', 'a=1', '-f', 'a[b]=2'], 'is an object, and something else'],
    [['/x', '-f', 'a=1', '-f', 'a[]=2'], 'is a list, and something else'],
    [['GET', '/x', '-f', 'a[b]=1'], 'cannot be in a query'],
    [['GET', '/x', '--input', '-'], 'GET has no body'],
    [['PUT', '/x', '--input', 'missing'], 'missing cannot be read'],
    [['POST', '/x', '--paginate'], 'read by GET'],
    [['/x', '-i', '--jsonl'], 'exclude each other'],
    [['/x', '-H', 'no header'], 'is no header'],
    [['/x/{app}'], 'Which app?'],
  ])('%j says what is right, and sends nothing', async (argv, message) => {
    const { cli, seen } = recording();
    const { exit, stdout, stderr } = await cli.run(['api', ...argv]);
    expect([exit, seen]).toEqual([2, []]);
    expect(argv.includes('--jsonl') ? stdout : stderr).toContain(message);
  });
});

describe('op', () => {
  test('shows a receipt by its key and by its id', async () => {
    const cli = testCli(createTestService());
    await cli.run([
      'api',
      'POST',
      '/api/platform/v1/apps',
      '-f',
      'name=Shop',
      '-H',
      'Idempotency-Key: job-1',
    ]);
    const { operation } = (await cli.run(['op', 'job-1', '--json'])).json();
    expect(operation).toMatchObject({ idempotencyKey: 'job-1', status: 'succeeded', responseStatus: 201 });
    const { exit, stdout } = await cli.run(['op', operation.id]);
    expect([exit, stdout]).toEqual([
      0,
      expect.stringContaining('Write\tPOST /api/platform/v1/apps\nStatus\tsucceeded\n'),
    ]);
    expect((await cli.run(['op', 'another'])).exit).toBe(5);
  });
});

test('--version is that of the package', async () => {
  const { version } = rootFile('packages/cli/package.json') as { version: string };
  expect(await testCli().run(['--version'])).toMatchObject({ exit: 0, stdout: `${version}\n`, stderr: '' });
});

describe('names for completion', () => {
  test('are none, silently and soon, where nobody answers which app is meant', async () => {
    const hanging = ((_: unknown, init?: RequestInit) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error));
      })) as typeof fetch;
    const cli = testCli({ url: 'https://headrace.test', key: 'hrk_test', fetch: hanging });
    const from = performance.now();
    const ran = await cli.run(['__complete', 'thread', '', 'thread', 'show', '--app', '~Shop']);
    expect(ran).toMatchObject({ exit: 0, stdout: '', stderr: '' });
    expect(performance.now() - from).toBeLessThan(3_000);
  });
});
