/** Runs the commands of the guide to setups unchanged against a service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newApp } from '../builds/builds.fixture.ts';
import { codesOf, commandsOf, hint, missing, runCommands, valuesOf } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { Setup } from './schemas.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-setup-'));
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(missing.length > 0)(
  `the guide's commands make a setup and use its layer${hint}`,
  async ({ skip }) => {
    if (!s.service.ctx.runnerStatus()?.ok) skip();
    const { appId } = await newApp(s, { 'package.json': '{}\n' });
    const env = { HEADRACE: s.base, KEY: s.key, APP: appId };
    const text = await runCommands(commandsOf('setup.md').join('\n'), env, folder);
    expect(text.trim().split('\n')).toEqual([
      '["package.json"]',
      '{"status":"ready","exitCode":0,"error":null}',
      'installed',
      'hello',
      '',
      '"ready"',
    ]);
  },
);

test("the guide lists a setup's error codes", () => {
  expect(codesOf('setup.md', '| `error.code` | |\n| --- | --- |\n')).toEqual(
    valuesOf(Setup.properties.error),
  );
});
