/** Runs the commands of the threads guide unchanged against a service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { P } from './threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(() => s?.close());

test.skipIf(missing.length > 0)(`the guide's commands fork a thread${hint}`, async () => {
  const text = await runCommands(commandsOf('threads.md').join('\n'), { API: s.base + P, KEY: s.key });
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    ['user', 'assistant'],
    ['user', 'assistant', 'user', 'assistant'],
    { title: 'Pond', from: { threadId: 'string', sourceId: 'string', checkpointId: 'string' } },
  ]);
});
