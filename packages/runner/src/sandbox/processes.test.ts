import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { lives, processStat, settled } from './processes.ts';

test('a process lives until it has ended, whether or not anybody waits for it; another one of its number is not it', async () => {
  // A parent that never waits for its child.
  const parent = spawn(
    'python3',
    [
      '-c',
      'import os, time\npid = os.fork()\nif pid == 0: os.read(0, 1); os._exit(0)\nprint(pid, flush=True); time.sleep(60)',
    ],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  onTestFinished(() => {
    parent.kill('SIGKILL');
  });
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said),
    { startTime } = processStat(pid)!;
  expect([lives(pid, startTime), lives(pid, '1'), lives(pid, undefined)]).toEqual([true, false, false]);
  parent.stdin.write('x');
  expect(await settled(() => !lives(pid, startTime), 5000)).toBe(true);
  expect(processStat(pid)?.state).toBe('Z');
});
