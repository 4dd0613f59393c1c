import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, test, vi } from 'vitest';
import { ensureRunner } from '../client/ensure-runner.ts';
import { prepareHost, releaseHost } from '../sandbox/host.ts';
import { storeFolder } from '../sandbox/guest-store.ts';
import { tarOf } from '../tar.ts';
import { scratch } from '../runner.fixture.ts';

const folder = scratch();
const client = await ensureRunner({
  stateDir: `${folder}/state`,
  socketPath: `${folder}/runner.sock`,
  idleSeconds: 60,
});
const { pid, ok } = await client.status();
afterAll(() => {
  client.close();
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    /* the test has killed it */
  }
});

/** Seconds that no other process sleeps for. */
const MARK = `${86_400 + process.pid}`;
const sleepers = (): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1') === `sleep\0${MARK}\0`;
    } catch {
      return false;
    }
  });

test.skipIf(!ok)(
  'of a turn that was paused when its runner was killed nothing lives after the next start',
  async () => {
    await client.putWorkspace('thr_paused', tarOf([{ path: 'a', content: 'a' }]));
    await client.startTask('run_paused', {
      kind: 'turn',
      workspaceId: 'thr_paused',
      agent: { name: 'scripted', command: null, folder: null, env: {}, home: {}, mode: null, install: null },
      prompt: `\`\`\`sh\nsleep ${MARK}\n\`\`\`\n`,
      permissions: 'allow',
      timeoutMs: 600_000,
    });
    await vi.waitFor(() => expect(sleepers()).toHaveLength(1), { timeout: 20_000 });
    await client.pause('run_paused');
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await client.status().catch(() => null)).toBeNull(), {
      timeout: 15_000,
    });
    const next = await prepareHost(storeFolder(`${folder}/state`));
    try {
      await vi.waitFor(() => expect(sleepers()).toEqual([]), { timeout: 15_000 });
    } finally {
      await releaseHost(next);
    }
  },
);
