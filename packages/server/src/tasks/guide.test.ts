/** Runs the commands of the tasks guide unchanged against a service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

test.skipIf(missing.length > 0)(`the guide's commands create, change and delete tasks${hint}`, async () => {
  const text = await runCommands(commandsOf('tasks.md').join('\n'), { API: `${s.base}/api`, KEY: s.key });
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { identifier: 'acme/garden#12', title: 'acme/garden#12', status: 'in_progress', threadIndex: 2 },
    { taskIdentifier: 'T-1', status: 'in_progress' },
    { identifier: 'T-1', title: 'Dig a pond', status: 'done' },
    ['acme/garden#12'],
    2,
  ]);
});
