import { expect, onTestFinished, test } from 'vitest';
import { MEBI, type Subject } from './subject.ts';
import { DEFAULT_LIMITS, MEMORY_FOLDERS } from '../../../packages/runner/src/sandbox/driver.ts';
import { processTree, settled } from '../../../packages/runner/src/sandbox/processes.ts';

export function limitCases({ bench, start, run, said }: Subject): void {
  const { memory, processes: bound } = bench.host.driver!.limits;

  test.skipIf(memory !== 'cgroup')('cannot take more memory than its limit', async () => {
    const { code, oom } = await run('head -c 1073741824 /dev/zero | tail > /dev/null', {
      limits: { memoryBytes: 64 * MEBI },
    });
    expect([code === 0, oom]).toEqual([false, true]);
    expect((await run('head -c 10000000 /dev/zero | tail > /dev/null')).oom).toBe(false);
  });

  test('a fork bomb stays within its processes, and ends with a kill', async () => {
    // Without control groups the limit may count everything that this user runs, including these tests.
    const processes = bound === 'cgroup' ? 64 : DEFAULT_LIMITS.processes;
    // Not a shell: a shell that cannot fork ends, and the bomb with it.
    const bomb =
      "for (let i = 0; i < 600; i++) require('child_process').spawn('sleep', ['60']).on('error', () => {}); setInterval(() => {}, 60000)";
    const sandbox = start(['node', '-e', bomb], { limits: { processes } });
    onTestFinished(async () => {
      await sandbox.kill();
    });
    const size = (): number => {
      const pid = sandbox.initPid();
      return pid === undefined ? 0 : processTree(pid).length;
    };
    expect(await settled(() => size() >= 32, 10_000)).toBe(true);
    const init = sandbox.initPid()!;
    for (let i = 0; i < 20; i++) expect(size()).toBeLessThanOrEqual(processes + 6);
    await sandbox.kill();
    expect(processTree(init).filter((p) => p.state !== 'Z')).toEqual([]);
  });

  test('a file cannot grow over the disk limit', async () => {
    expect(await said('head -c 3000000 /dev/zero > big 2>/dev/null; stat -c %s big')).toBe('3000000');
    expect(
      await said('head -c 3000000 /dev/zero > big 2>/dev/null; stat -c %s big', {
        limits: { diskBytes: MEBI },
      }),
    ).toBe(String(MEBI));
  });

  test('its folders in memory have their sizes', async () => {
    const sizes = await said(
      `df -B1 --output=size ${MEMORY_FOLDERS.map(({ path }) => path).join(' ')} | tail -n +2`,
    );
    expect(sizes.split('\n').map(Number)).toEqual(MEMORY_FOLDERS.map(({ bytes }) => bytes));
  });

  test('has descriptors enough, and dumps no core', async () => {
    expect(Number(await said('ulimit -n'))).toBeGreaterThanOrEqual(1024);
    expect(await said('ulimit -c')).toBe('0');
  });
}
