import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { openRunner, runnerSocket } from './link.ts';

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
      runnerDir: null,
      sandboxDriver: 'auto',
      sandboxLimits: 'best-effort',
      container: { socket: null, image: null, runtime: null },
    },
    starts: false,
    finishes: false,
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

test.each([true, false])(
  'a runner of an older version gets signs of life where a worker finishes its work: %s',
  async (finishes) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const dataDir = join(tmpdir(), `headrace-former-${finishes}`, process.pid.toString());
    let calls = 0;
    const older = createServer((_, res) => {
      calls++;
      res.setHeader('content-type', 'application/json').end('{"id":"local","pid":1}');
    }).listen(runnerSocket(dataDir).replace(/\.v\d+\./, '.'));
    await once(older, 'listening');
    const container = { socket: null, image: null, runtime: null };
    const link = await openRunner({
      config: { dataDir, runnerDir: null, sandboxDriver: 'auto', sandboxLimits: 'best-effort', container },
      starts: false,
      finishes,
      log: pino({ level: 'silent' }),
    });
    try {
      expect([calls, link.former.list().map(({ id }) => id)]).toEqual([1, ['local:1']]);
      const asked = vi.spyOn(link.client, 'status');
      vi.advanceTimersByTime(1_000);
      await vi.waitFor(() => expect([asked.mock.calls.length > 0, calls]).toEqual([true, finishes ? 2 : 1]));
    } finally {
      link.close();
      older.close();
    }
  },
);
