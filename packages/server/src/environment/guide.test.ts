/** Runs the commands of the guide to environment variables unchanged against a service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newBench } from '../builds/builds.fixture.ts';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-environment-'));
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(missing.length > 0)(`the guide's commands set variables and use them${hint}`, async () => {
  const { appId, threadId } = await newBench(s);
  const env = { HEADRACE: s.base, KEY: s.key, APP: appId, THREAD: threadId };
  const text = await runCommands(commandsOf('environment.md').join('\n'), env, folder);
  expect(text.trim().split('\n')).toEqual([
    '{"name":"API_URL","value":"https://api.example.com","targets":["run","exec","build","preview"]}',
    '{"name":"API_TOKEN","value":null,"targets":["exec","build"]}',
    'https://api.example.com with ***',
    '',
    '[["API_TOKEN","app"],["API_URL","app"]]',
    '"API_TOKEN"',
  ]);
});
