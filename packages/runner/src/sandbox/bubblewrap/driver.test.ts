import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeBench } from '../../runner.fixture.ts';
import { DEFAULT_LIMITS, WORKSPACE, type Sandbox } from '../driver.ts';
import { DEFAULT_CHOICE } from '../drivers.ts';
import { makeSandboxFolder, startSandbox } from '../host.ts';
import { probe } from '../probe.ts';
import { BubblewrapDriver } from './driver.ts';

/** checks/drivers/conformance tests what all drivers have in common. */
const bench = await makeBench({ ...DEFAULT_CHOICE, driver: 'bubblewrap' });
const cgroups = bench?.host.driver instanceof BubblewrapDriver ? bench.host.driver.cgroups : undefined;

function start(command: string): Sandbox {
  const folder = makeSandboxFolder(bench!.host, randomUUID());
  const sandbox = startSandbox(bench!.host, {
    command: ['/bin/sh', '-c', command],
    binds: [{ host: folder, inside: WORKSPACE, readOnly: false }],
    limits: DEFAULT_LIMITS,
  });
  sandbox.stdin.end();
  return sandbox;
}

describe.skipIf(!bench)('a sandbox of bubblewrap', () => {
  test('shows no environment of what started it', async () => {
    let said = '';
    const sandbox = start('cat /proc/1/environ; id -u');
    sandbox.stdout.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
    await Promise.all([sandbox.exited, once(sandbox.stdout, 'close')]);
    expect(said).toBe('1000\n');
  });

  test('leaves no cgroup behind but those of waiting launches', async () => {
    for (let i = 0; i < 5; i++) await start('true').exited;
    for (const folder of cgroups?.folders ?? [])
      expect(
        readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).length,
      ).toBeLessThanOrEqual(2);
  });

  test.skipIf(!cgroups?.cpu)('shares one small part of the processors with all others', async () => {
    const { folders, cpu } = cgroups!;
    const members = (folder: string) =>
      readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    expect(Number(readFileSync(join(cpu!, 'cpu.shares'), 'utf8'))).toBeLessThan(1024);
    const sandbox = start('echo up; sleep 60');
    await once(sandbox.stdout, 'data');
    // A launch under construction enters one group after the other.
    await vi.waitFor(() => {
      const inside = readdirSync(folders.at(-1)!, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .flatMap((entry) => members(join(folders.at(-1)!, entry.name)));
      expect(inside.length).toBeGreaterThan(1);
      expect(members(cpu!)).toEqual(expect.arrayContaining(inside));
    });
    await sandbox.kill();
  });

  test('where it is not installed, the probe says what to install', async () => {
    const driver = new BubblewrapDriver(bench!.host);
    onTestFinished(() => driver.close());
    const found = await probe(
      bench!.host,
      Object.assign(Object.create(driver) as BubblewrapDriver, {
        missing: () => Promise.resolve(['install bubblewrap: apt-get install bubblewrap']),
      }),
    );
    expect(found).toMatchObject({
      ok: false,
      driver: null,
      missing: ['install bubblewrap: apt-get install bubblewrap'],
    });
  });
});
