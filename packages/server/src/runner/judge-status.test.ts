import { describe, expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '@headrace/runner/protocol';
import type { RunnerStatus } from '@headrace/runner/protocol';
import { judgeStatus } from './judge-status.ts';

const none = { socket: null, image: null, runtime: null };
const cgroup = { memory: 'cgroup', processes: 'cgroup', cpu: 'cgroup', warnings: [] } as const;
const runner = (
  driver: RunnerStatus['driver'],
  asked?: Partial<NonNullable<RunnerStatus['asked']>>,
): RunnerStatus => ({
  id: 'local',
  pid: 1,
  protocol: PROTOCOL_VERSION,
  driver,
  ok: driver !== null,
  missing: driver === null ? ['install bubblewrap'] : [],
  limits: { ...cgroup, warnings: [] },
  ...(asked && { asked: { driver: 'auto', ...none, ...asked } }),
});
const service = (
  sandboxDriver: 'auto' | 'bubblewrap' | 'container',
  container: Partial<typeof none | Record<string, string>> = {},
  sandboxLimits: 'required' | 'best-effort' = 'best-effort',
) => ({ sandboxDriver, sandboxLimits, container: { ...none, ...container } });

test('a runner of another version of the protocol is refused', () => {
  const { protocol: _, ...unversioned } = runner('bubblewrap');
  for (const status of [unversioned, { ...unversioned, protocol: PROTOCOL_VERSION + 1 }]) {
    const { ok, missing } = judgeStatus(status, service('auto'));
    expect([ok, missing.join()]).toEqual([
      false,
      expect.stringMatching(new RegExp(`the one that runs speaks (0|${PROTOCOL_VERSION + 1})`)),
    ]);
  }
});

describe('a runner that was started with other settings', () => {
  test.each<[string, RunnerStatus, ReturnType<typeof service>, RegExp]>([
    [
      'another driver',
      runner('bubblewrap'),
      service('container'),
      /^the driver container: the runner that runs uses bubblewrap; it ends 30 seconds/,
    ],
    [
      'another runtime',
      runner('container', { runtime: 'runc' }),
      service('container', { runtime: 'runsc' }),
      /another HEADRACE_CONTAINER_RUNTIME;/,
    ],
    [
      'no runtime by name',
      runner('container', {}),
      service('auto', { runtime: 'runsc' }),
      /HEADRACE_CONTAINER_RUNTIME/,
    ],
    [
      'another engine and image',
      runner('container', { socket: '/a', image: 'x' }),
      service('container', { socket: '/b' }),
      /HEADRACE_CONTAINER_SOCKET, HEADRACE_CONTAINER_IMAGE/,
    ],
    [
      'a driver that it did not find',
      runner(null, { driver: 'bubblewrap' }),
      service('container'),
      /HEADRACE_SANDBOX_DRIVER/,
    ],
  ])('is refused: %s', (_name, status, settings, expected) => {
    const { ok, missing } = judgeStatus(status, settings);
    expect(ok).toBe(false);
    expect(missing.join('; ')).toMatch(expected);
  });

  test.each<[string, RunnerStatus, ReturnType<typeof service>]>([
    [
      'the same',
      runner('container', { driver: 'container', socket: '/a' }),
      service('container', { socket: '/a' }),
    ],
    ['any driver will do', runner('bubblewrap', { driver: 'bubblewrap' }), service('auto')],
    ['what it found is what is asked for now', runner('container', {}), service('container')],
    [
      'settings of containers, and it makes none',
      runner('bubblewrap', {}),
      service('auto', { runtime: 'runsc' }),
    ],
    ['one that does not say', runner('container'), service('container', { runtime: 'runc' })],
  ])('is taken: %s', (_name, status, settings) => {
    expect(judgeStatus(status, settings)).toBe(status);
  });

  test('what a runner misses that was started with the same settings is reported unchanged', () => {
    expect(judgeStatus(runner(null, { driver: 'container' }), service('container'))).toMatchObject({
      ok: false,
      missing: ['install bubblewrap'],
    });
  });
});

describe('limits that are required', () => {
  test.each(['memory', 'processes'] as const)('refuse a runner whose %s no control group bounds', (name) => {
    const status = runner('container');
    const weak: RunnerStatus = {
      ...status,
      limits: { ...status.limits, [name]: name === 'memory' ? 'watchdog' : 'rlimit' },
    };
    expect(judgeStatus(weak, service('auto', {}, 'required'))).toMatchObject({
      ok: false,
      missing: [expect.stringContaining('control groups') as string],
    });
    expect(judgeStatus(weak, service('auto'))).toBe(weak);
    expect(judgeStatus(status, service('auto', {}, 'required'))).toBe(status);
  });
});
