/** Runs the commands of the guide on pull requests unchanged against a service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const GUIDE = join(import.meta.dirname, '../../../../docs/guides/pull-requests.md');

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(() => s?.close());

/** The guide uses the programs that the README asks to install. The service needs none of them. */
const missing = ['curl', 'jq', 'uuidgen'].filter((command) => spawnSync(command, ['--version']).error);

test.skipIf(missing.length > 0)(
  `the guide's commands open, change and merge a pull request${missing.length > 0 ? ` (install ${missing.join(', ')} to run this)` : ''}`,
  async () => {
    const { repository } = (
      await s.call('POST', '/api/source-control/scm/repositories', {
        name: 'garden',
        files: [{ path: 'a.txt', content: 'a\n' }],
      })
    ).body;
    const commands = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
    expect(commands).toHaveLength(2);
    const child = spawn('bash', ['-euo', 'pipefail'], {
      env: { PATH: process.env['PATH'], API: `${s.base}/api`, KEY: s.key, REPOSITORY: repository.id },
      timeout: 60_000,
    });
    let text = '';
    for (const pipe of [child.stdout, child.stderr])
      pipe.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    child.stdin.end(commands.map(([, code]) => code).join('\n'));
    const [code] = await once(child, 'close');
    expect(code, text).toBe(0);
    const shown = text.split(/^(?=\{)/m).map((part) => JSON.parse(part));
    expect(shown).toEqual([
      {
        number: 1,
        state: 'open',
        title: 'Water the plants',
        baseRef: 'main',
        push: 'current',
        mergeable: 'mergeable',
      },
      { title: 'Water all plants', state: 'open' },
      { state: 'merged' },
      { sealed: true, primary: 'merged' },
    ]);
  },
);
