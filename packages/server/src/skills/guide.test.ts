/** Runs the commands of the guide to instructions and skills unchanged against a service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newBench } from '../builds/builds.fixture.ts';
import { commandsOf, hint, missing, runCommands } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-instructions-'));
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(missing.length > 0)(`the guide's commands set both, and a run uses them${hint}`, async () => {
  const { appId, threadId } = await newBench(s);
  const env = { HEADRACE: s.base, KEY: s.key, APP: appId, THREAD: threadId };
  const text = await runCommands(commandsOf('instructions.md').join('\n'), env, folder);
  expect(text.trim().split('\n')).toEqual([
    'Write a test with each change.',
    '{"name":"release-notes","description":"How to write release notes. Use it for every change of CHANGELOG.md.","level":"app","fileCount":2}',
    '[["release-notes","app"]]',
    'SKILL.md',
    'scripts/header.sh',
    '## 1.2',
    'Write a test with each change.',
  ]);
});
