/** Runs the commands of the guide on pull requests unchanged against a service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(() => s?.close());

test.skipIf(missing.length > 0)(
  `the guide's commands open, change and merge a pull request${hint}`,
  async () => {
    const { repository } = (
      await s.call('POST', '/api/source-control/scm/repositories', {
        name: 'garden',
        files: [{ path: 'a.txt', content: 'a\n' }],
      })
    ).body;
    const commands = commandsOf('pull-requests.md');
    expect(commands).toHaveLength(2);
    const text = await runCommands(commands.join('\n'), {
      API: `${s.base}/api`,
      KEY: s.key,
      REPOSITORY: repository.id,
    });
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
