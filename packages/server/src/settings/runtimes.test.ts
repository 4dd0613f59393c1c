/** What has a project's runtime, in real sandboxes; and what becomes of work whose runtime is gone. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeRoot } from '../../../runner/src/sandbox/root.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, sh, until } from '../threads/threads.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-runtimes-'));
let s: TestServer;
beforeAll(async () => {
  await chmod(folder, 0o755);
  const file = join(folder, 'config.json');
  const root = makeRoot(join(folder, 'root'), 'in the runtime');
  writeFileSync(file, JSON.stringify({ runtimes: [{ name: 'own', root, env: { SAYS: 'hello' } }] }));
  s = await startTestServer({ HEADRACE_CONFIG_FILE: file });
});
afterAll(async () => {
  await s?.close();
  rmSync(folder, { recursive: true, force: true });
});

const LOOK = 'cat /etc/mark && echo $SAYS';
const SEEN = 'in the runtime\nhello\n';
const buildOf = async (b: Awaited<ReturnType<typeof newBench>>) => {
  const { build } = await ok(s.call('POST', `${b.at}/builds`, { command: LOOK, outputDirectory: '.' }));
  const ended = (await ok(s.call('GET', `${b.app}/builds/${build.id}?waitSeconds=30`))).build;
  return { ended, text: (await ok(s.call('GET', `${b.app}/builds/${build.id}/logs`))).logs.text as string };
};

test('runs, commands and builds of a project have its runtime', async () => {
  const b = await newBench(s, { settings: { runtime: 'own' } });
  const run = await b.work(sh(`{ ${LOOK}; } > seen.txt`));
  expect(run.error).toBeNull();
  expect((await ok(s.call('POST', `${b.at}/exec`, { command: `${LOOK}; cat seen.txt` }))).exec.stdout).toBe(
    `${SEEN}${SEEN}`,
  );
  expect((await buildOf(b)).text).toBe(SEEN);
});

describe('with a runtime that the operator took away', () => {
  test('nothing is started, and all of it works again after a change of the setting', async () => {
    const b = await newBench(s, { settings: { runtime: 'own' } });
    const { config } = s.service.ctx;
    const { runtimes } = config;
    config.runtimes = [];
    try {
      const { run } = await ok(s.call('POST', `${b.at}/messages`, { content: sh('true') }));
      const read = async () => (await ok(s.call('GET', `${b.at}/runs/${run.id}`))).run;
      await until('the end of the run', async () => (await read()).status === 'failed');
      const { error } = await read();
      expect([error.code, error.message]).toEqual([
        'workspace_unavailable',
        expect.stringContaining('The runtime own is not there'),
      ]);
      const { status, body } = await s.call('POST', `${b.at}/exec`, { command: 'true' });
      expect([status, body.error.code]).toEqual([503, 'source_workspace_unavailable']);
      const { ended, text } = await buildOf(b);
      expect([ended.status, ended.error.message, text]).toEqual([
        'failed',
        expect.stringContaining('The runtime own is not there'),
        '',
      ]);
      const { preview } = await ok(s.call('POST', `${b.at}/previews`, { command: 'true', port: 3000 }));
      const shown = async () => (await ok(s.call('GET', `${b.app}/previews/${preview.id}`))).preview;
      await until('the end of the preview', async () => (await shown()).status === 'failed');
      expect((await shown()).error.message).toContain('The runtime own is not there');
    } finally {
      config.runtimes = runtimes;
    }
    await ok(s.call('PATCH', `${b.app}/settings`, { runtime: null }));
    expect((await b.work(sh('true'))).error).toBeNull();
  });
});
