import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeBench } from '../test-support.ts';
import { DEFAULT_LIMITS, Launches } from './launch.ts';

const bench = await makeBench();

test.skipIf(!bench)('what cannot be started beforehand is told to whom it is started for, and ends no runner', async () => {
  const host = { ...bench!.host, seccomp: '/none' };
  const launches = new Launches(host);
  for (let i = 0; i < 2; i++) {
    expect(() => launches.take(DEFAULT_LIMITS)).toThrow('ENOENT');
    await sleep(100);
  }
  host.seccomp = bench!.host.seccomp;
  expect(launches.take(DEFAULT_LIMITS).child.kill()).toBe(true);
  await launches.close();
});
