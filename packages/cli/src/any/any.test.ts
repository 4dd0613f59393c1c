import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { VERSION } from '../core/version.ts';

describe('upgrade --check', () => {
  const asking = (answer: () => Response | Promise<Response>) => {
    const asked: string[] = [];
    const service = {
      url: '',
      key: '',
      fetch: (async (input: string) => {
        asked.push(input);
        return answer();
      }) as typeof fetch,
    };
    return { cli: testCli(service), asked };
  };

  test.each([
    ['999.0.0', false, `999.0.0 is newer than ${VERSION}: npm i -g @headrace/cli@999.0.0\n`],
    [VERSION, true, `${VERSION} is the newest version.\n`],
    ['0.0.0', true, `${VERSION} is the newest version.\n`],
  ])('says what %s means', async (latest, isNewest, text) => {
    const { cli, asked } = asking(() => Response.json({ version: latest }));
    const env = { npm_config_registry: 'https://npm.example/' };
    expect(await cli.run(['upgrade', '--check'], { env })).toMatchObject({ exit: 0, stdout: text });
    const document = (await cli.run(['upgrade', '--check', '--json'])).json();
    expect(document).toEqual({ ok: true, version: VERSION, latest, isNewest });
    expect(asked).toEqual([
      'https://npm.example/@headrace%2fcli/latest',
      'https://registry.npmjs.org/@headrace%2fcli/latest',
    ]);
  });

  test.each([
    [404, '{}', 5],
    [500, '{}', 3],
    [200, '{"version":"1.0.0; rm -rf /"}', 3],
    [200, '<html>', 3],
  ])('fails after the answer %d %s', async (status, body, exit) => {
    const { cli } = asking(() => new Response(body, { status }));
    expect(await cli.run(['upgrade', '--check'])).toMatchObject({ exit, stdout: '' });
  });

  test('is needed: without it, nothing is asked', async () => {
    const { cli, asked } = asking(() => Response.json({}));
    const { exit, stderr } = await cli.run(['upgrade']);
    expect([exit, stderr, asked]).toEqual([2, expect.stringContaining('npm i -g @headrace/cli@latest'), []]);
  });
});

describe('api', () => {
  const PATH = '/api/platform/v1/apps';

  test('writes fields, reads with a query, reads all pages, and takes a body from a file', async () => {
    const cli = testCli(createTestService());
    const made = await cli.run(['api', PATH, '-f', 'name=Shop', '-f', 'metadata[plan]=pro']);
    const { app } = made.json();
    expect([made.exit, app.name, app.metadata]).toEqual([0, 'Shop', { plan: 'pro' }]);
    await cli.run(['api', 'POST', PATH, '-f', 'name=Other']);
    const lines = await cli.run(['api', 'GET', `${PATH}?limit=1`, '--paginate', '--jsonl']);
    expect(lines.stdout.trim().split('\n')).toHaveLength(2);
    writeFileSync(join(cli.cwd, 'changes.json'), '{"name":"Store"}');
    const line = ['api', 'PATCH', `${PATH}/{app}`, '--input', 'changes.json', '--app', app.id];
    expect((await cli.run(line)).json().app.name).toBe('Store');
  });

  test('prints the error of the API as it is', async () => {
    const cli = testCli(createTestService());
    const { exit, stdout } = await cli.run(['api', `${PATH}/prj_${'0'.repeat(26)}`, '--json']);
    expect([exit, JSON.parse(stdout)]).toMatchObject([5, { ok: false, error: { code: expect.any(String) } }]);
  });

  test.each([
    [['FLY', '/x'], 'is no method'],
    [['GET', '/x', '--input', '-'], 'GET has no body'],
    [['https://evil.example/x'], 'is an address'],
    [['/x', '-f', 'a'], 'is no field'],
    [['/x', '-f', '__proto__[a]=1'], 'is no key'],
    [['/x', '-f', 'a=1', '-f', 'a=2'], 'is given twice'],
    [['/x', '-H', 'nonsense'], 'is no header'],
  ])('%j is refused before anything is sent', async (words, message) => {
    const service = createTestService();
    const { exit, stderr } = await testCli(service).run(['api', ...words]);
    expect([exit, stderr, service.requests]).toEqual([2, expect.stringContaining(message), []]);
  });
});
