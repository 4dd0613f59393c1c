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
