import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeBench } from '../../runner.fixture.ts';
import { DEFAULT_LIMITS } from '../driver.ts';
import { Launches } from './launch.ts';

const bench = await makeBench();

test.skipIf(!bench)(
  'what cannot be started beforehand is told to whom it is started for, and ends no runner',
  async () => {
    const setup = { bwrap: 'bwrap', seccomp: '/none', uid: bench!.host.uid, cgroups: undefined };
    const launches = new Launches(setup);
    for (let i = 0; i < 2; i++) {
      expect(() => launches.take(DEFAULT_LIMITS)).toThrow('ENOENT');
      await sleep(100);
    }
    setup.seccomp = '/dev/null';
    expect(launches.take(DEFAULT_LIMITS).child.kill()).toBe(true);
    await launches.close();
  },
);
