import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Subject } from './subject.ts';
import { processStat, settled } from '../../../packages/runner/src/sandbox/processes.ts';

export function endCases({ start, run, said }: Subject): void {
  test.each([
    ['exit 0', 0, null],
    ['exit 3', 3, null],
    ['exit 255', 255, null],
    ['kill -9 $$', 137, 'SIGKILL'],
    ['kill -TERM $$', 143, 'SIGTERM'],
    ['kill -SEGV $$', 139, 'SIGSEGV'],
    ['exec none-such', 127, null],
  ])('%s is told', async (command, code, signal) => {
    expect(await run(command)).toMatchObject({ code, signal, oom: false });
  });

  test('a command that is not there says so', async () => {
    expect(await run(['none-such', 'x'])).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('none-such') as string,
    });
  });

  test('signals reach a command as they would anywhere', async () => {
    expect(
      await said([
        'python3',
        '-c',
        'import signal; print([signal.getsignal(s) == d for s, d in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL), (signal.SIGQUIT, signal.SIG_DFL))])',
      ]),
    ).toMatch(/^\[True, True, True\]$|^$/);
  });

  test('orphans are taken in', async () => {
    expect(
      await said(
        'for i in 1 2 3 4 5 6 7 8; do (sh -c ": &"); done; sleep 0.2; cat /proc/[0-9]*/stat 2>/dev/null | cut -d" " -f3 | grep -c Z',
      ),
    ).toBe('0');
  });

  test('what it left running ends with it', async () => {
    const sandbox = start('setsid sleep 60 & echo up; read -r line');
    await once(sandbox.stdout, 'data');
    expect(await settled(() => sandbox.initPid() !== undefined, 5000)).toBe(true);
    const init = sandbox.initPid()!;
    sandbox.stdin.end();
    expect((await sandbox.exited).code).not.toBe(null);
    expect(processStat(init)?.state ?? 'Z').toBe('Z');
  });

  test('one that closed its streams lives on until it ends', async () => {
    const at = Date.now();
    const { code } = await run('exec >&- 2>&-; sleep 1; exit 7');
    expect(code).toBe(7);
    expect(Date.now() - at).toBeGreaterThan(900);
  });

  test.each([0, 1, 20, 60, 120, 250, 500])('a kill after %i ms ends it', async (ms) => {
    const sandbox = start('echo up; sleep 60');
    await new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
    const [one, two] = await Promise.all([sandbox.kill(), sandbox.kill()]);
    expect(one).toEqual(two);
    expect(one.signal).toBe('SIGKILL');
    expect(await sandbox.kill()).toEqual(one);
    await sandbox.stdout.resume().toArray();
  });

  test('a kill after its end changes nothing', async () => {
    const sandbox = start('exit 4');
    await sandbox.exited;
    expect(await sandbox.kill()).toMatchObject({ code: 4, signal: null });
  });

  test('eight at once are eight', async () => {
    expect(
      (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((i) => said(`echo ${i}; cat`)))).map(Number),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
}
