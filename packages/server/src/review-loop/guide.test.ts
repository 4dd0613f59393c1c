/** Compares the guide's table of states with the code's, and runs the guide's commands unchanged. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, hint, missing, readGuide, runCommands } from '../guide.fixture.ts';
import { LOOP_TABLE } from '../pull-requests/loop-table.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
let folder: string;
beforeAll(async () => {
  s = await startTestServer();
  folder = await mkdtemp(join(tmpdir(), 'headrace-guide-'));
});
afterAll(async () => {
  await s?.close();
  await rm(folder, { recursive: true, force: true });
});

test("the guide has the code's table of states", () => {
  const rows = readGuide('review-loop.md').split('\n');
  const first = rows.indexOf('| From | When | To | Also |') + 2;
  const shown = rows.slice(first, rows.indexOf('', first));
  expect(shown).toEqual(
    LOOP_TABLE.map(({ from, when, to, also }) => `| ${from} | ${when} | ${to} | ${also} |`),
  );
});

test.skipIf(missing.length > 0)(
  `the guide's commands take a pull request from a failing check to the merge${hint}`,
  async () => {
    const { repository } = (
      await s.call('POST', '/api/source-control/scm/repositories', {
        name: 'garden',
        files: [{ path: 'a.txt', content: 'a\n' }],
      })
    ).body;
    const env = { API: `${s.base}/api`, KEY: s.key, REPOSITORY: repository.id as string };
    const text = await runCommands(commandsOf('review-loop.md').join('\n'), env, folder);
    expect(text).toMatch(/^Make the checks green\.\n[\s\S]*^expected: fern, watered$/m);
    expect(JSON.parse(text.trimEnd().split('\n').at(-1)!)).toEqual({
      state: 'merged',
      loop: 'disabled',
      by: 'system',
      passes: 1,
    });
  },
);
