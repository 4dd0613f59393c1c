/** Where workspaces lie: small memory, folders that are named, and file systems that take no overlay. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ensureRunner } from '../client/ensure-runner.ts';
import type { RunnerStatus } from '../protocol.ts';
import { choosePlace } from './place.ts';

const folder = mkdtempSync(join(tmpdir(), 'hr-place-'));
chmodSync(folder, 0o755);
const mounts: string[] = [];
afterAll(() => {
  for (const mount of mounts.toReversed()) spawnSync('umount', [mount]);
  rmSync(folder, { recursive: true, force: true });
});

/** Where root may mount. */
function mounted(name: string, ...how: string[]): string | null {
  const path = join(folder, name);
  mkdirSync(path);
  if (spawnSync('mount', [...how, path]).status !== 0) return null;
  mounts.push(path);
  return path;
}
const small = mounted('small', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs');
for (const name of ['lower', 'upper', 'work']) mkdirSync(join(folder, name));
const overlay = mounted(
  'overlay',
  '-t',
  'overlay',
  '-o',
  `lowerdir=${folder}/lower,upperdir=${folder}/upper,workdir=${folder}/work`,
  'overlay',
);

/** What a runner with its workspaces there says once it knows how sources are restored. */
async function statusOf(place: string | null): Promise<RunnerStatus> {
  const client = await ensureRunner({
    stateDir: join(folder, 'state'),
    socketPath: join(folder, 's'),
    nodePath: process.execPath,
    place,
  });
  try {
    await expect.poll(async () => (await client.status()).restore, { timeout: 20_000 }).toBeDefined();
    return await client.status();
  } finally {
    const { pid } = await client.status();
    process.kill(pid, 'SIGTERM');
    client.close();
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 20_000 }).toBe(false);
  }
}

test('a folder that is named is made', () => {
  const named = join(folder, 'named/below');
  expect(choosePlace(named)).toEqual({ parent: named, warnings: [] });
  expect(existsSync(named)).toBe(true);
});

test('without memory it is the temporary folder, and nothing is wrong', () => {
  expect(choosePlace(null, join(folder, 'none'))).toEqual({ parent: tmpdir(), warnings: [] });
});

describe.runIf(small !== null && overlay !== null)('as in a Pod', () => {
  test('64 MiB of memory are not enough, and a warning names the setting', () => {
    const { parent, warnings } = choosePlace(null, small!);
    expect(parent).toBe(tmpdir());
    expect(warnings).toEqual([expect.stringMatching(/has 6[34] MiB free.*HEADRACE_RUNNER_DIR/)]);
    expect(choosePlace(small).warnings).toEqual([expect.stringMatching(/6[34] MiB free/)]);
  });

  test("a container's root takes no overlay: the runner works by copies, and says so", async () => {
    const status = await statusOf(overlay);
    expect(status).toMatchObject({ ok: true, restore: 'copy' });
    expect(status.limits.warnings).toContainEqual(
      expect.stringMatching(`^${overlay} takes no overlay mounts: .*HEADRACE_RUNNER_DIR`),
    );
  }, 60_000);

  test('a volume of its own takes them, and holds nothing when the runner has ended', async () => {
    const volume = mounted('volume', '-t', 'tmpfs', '-o', 'size=2g', 'tmpfs')!;
    const status = await statusOf(volume);
    expect(status).toMatchObject({ ok: true, restore: 'overlay' });
    expect(status.limits.warnings.filter((warning) => /overlay|MiB/.test(warning))).toEqual([]);
    expect(readdirSync(volume)).toEqual([]);
  }, 60_000);

  test("a folder that the sandboxes' user cannot enter is refused", async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    await expect(statusOf(join(closed, 'in'))).rejects.toThrow(/HEADRACE_RUNNER_DIR: .* cannot be entered/);
    expect(readdirSync(join(closed, 'in'))).toEqual([]);
  }, 60_000);
});
