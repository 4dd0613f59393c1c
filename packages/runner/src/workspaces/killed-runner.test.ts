import { existsSync, readFileSync } from 'node:fs';
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
const isAlive = (): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
afterAll(() => {
  client.close();
  if (isAlive()) process.kill(pid, 'SIGTERM');
});

/** Where a process sees a workspace of that runner mounted. */
const mountsOf = (process: number | 'self'): string[] =>
  readFileSync(`/proc/${process}/mountinfo`, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => /\/headrace-[^/]+\/w\/thr_killed\.[^/]+\/merged$/.test(point));

test.skipIf(!ok)(
  'of a runner that was killed no mount is left, and its files go with the next one',
  async ({ skip }) => {
    await client.putWorkspace('thr_killed', tarOf([{ path: 'a', content: 'a' }]), {
      keep: { key: 'src_killed', group: 'prj' },
    });
    if ((await client.status()).restore !== 'overlay') skip();
    const [mount] = mountsOf(pid);
    expect(existsSync(mount!)).toBe(true);
    // Its mounts are private: from here not even its folder is a mount.
    expect(mountsOf('self')).toEqual([]);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(
      () => {
        if (isAlive()) throw new Error('the runner is alive');
      },
      { timeout: 15_000, interval: 20 },
    );
    const next = await prepareHost(storeFolder(`${folder}/state`));
    try {
      expect(existsSync(mount!)).toBe(false);
    } finally {
      await releaseHost(next);
    }
  },
);
