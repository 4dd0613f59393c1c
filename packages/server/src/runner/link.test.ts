import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { openRunner } from './link.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a process that starts no runner logs nothing for want of one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const log = pino({ level: 'silent' });
  const error = vi.spyOn(log, 'error');
  const link = await openRunner({
    config: {
      dataDir: join(tmpdir(), 'headrace-none', process.pid.toString()),
      sandboxDriver: 'auto',
      sandboxLimits: 'best-effort',
      container: { socket: null, image: null, runtime: null },
    },
    starts: false,
    log,
  });
  try {
    const asked = vi.spyOn(link.client, 'status');
    for (let beats = 1; beats <= 3; beats++) {
      vi.advanceTimersByTime(1_000);
      await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2 * beats));
      await Promise.allSettled(asked.mock.results.map(({ value }) => value as Promise<unknown>));
      await Promise.resolve();
    }
    expect(error).not.toHaveBeenCalled();
  } finally {
    link.close();
  }
});
