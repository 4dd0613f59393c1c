import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { StorageRefusesError } from '../storage/object-store.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const ready = () => s.call('GET', '/health/ready', undefined, { key: null });

describe('200', () => {
  test('needs no key, and carries the rate limit headers without counting', async () => {
    for (const path of ['/health', '/health/ready']) {
      const [first, second] = [
        await s.call('GET', path, undefined, { key: null }),
        await s.call('GET', path, undefined, { key: null }),
      ];
      expect([first.status, first.body.ok]).toEqual([200, true]);
      expect(first.headers.get('x-ratelimit-remaining')).toBe(second.headers.get('x-ratelimit-remaining'));
      expect(first.headers.get('ratelimit')).toMatch(/^"ingress";r=\d+;t=\d+$/);
    }
    expect((await ready()).body).toEqual({ ok: true, status: 'ready' });
  });

  test('however often it is asked, the parts are looked at once a second', async () => {
    const probe = vi.spyOn(s.service.ctx.store, 'probe');
    const from = performance.now();
    for (let i = 0; i < 100; i++) expect((await ready()).status).toBe(200);
    const seconds = Math.ceil((performance.now() - from) / 1000);
    expect(probe.mock.calls.length).toBeLessThanOrEqual(seconds + 1);
    probe.mockRestore();
  });

  test('a process that only answers does not wait for a sandbox', async () => {
    const api = await startTestServer({ HEADRACE_ROLES: 'api' });
    try {
      expect((await api.call('GET', '/health/ready', undefined, { key: null })).status).toBe(200);
    } finally {
      await api.close();
    }
  });
});

describe('503', () => {
  test.each([
    [
      'sandbox',
      () => {
        const { runnerStatus } = s.service.ctx;
        s.service.ctx.runnerStatus = () => ({ ...runnerStatus()!, ok: false });
        return () => {
          s.service.ctx.runnerStatus = runnerStatus;
        };
      },
    ],
    [
      'sandbox',
      () => {
        const { runnerStatus } = s.service.ctx;
        s.service.ctx.runnerStatus = () => null;
        return () => {
          s.service.ctx.runnerStatus = runnerStatus;
        };
      },
    ],
    [
      'storage',
      () => {
        const { store } = s.service.ctx;
        const { probe } = store;
        store.probe = () => Promise.reject(new Error('full'));
        return () => {
          store.probe = probe;
        };
      },
    ],
    [
      'storage',
      () => {
        const { store } = s.service.ctx;
        const { probe } = store;
        store.probe = () => new Promise(() => {});
        return () => {
          store.probe = probe;
        };
      },
    ],
  ])('names %s, while the process says that it lives (%#)', async (part, breakIt) => {
    const mend = breakIt();
    try {
      // What was found is kept for a second.
      await expect.poll(async () => (await ready()).status, { timeout: 8_000, interval: 50 }).toBe(503);
      const answer = await ready();
      expect([answer.status, answer.body.error.code, answer.body.error.failing]).toEqual([
        503,
        'unavailable',
        [part],
      ]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await s.call('GET', '/health', undefined, { key: null })).status).toBe(200);
    } finally {
      mend();
    }
    await expect.poll(async () => (await ready()).status, { timeout: 8_000, interval: 50 }).toBe(200);
  });

  test('says what to grant where the storage refuses requests', async () => {
    const { store } = s.service.ctx;
    const { probe } = store;
    store.probe = () => Promise.reject(new StorageRefusesError('Grant s3:PutObject.'));
    try {
      await expect
        .poll(async () => (await ready()).body.error?.message, { timeout: 8_000, interval: 50 })
        .toBe("Not ready: storage. Grant s3:PutObject. See the service's log.");
    } finally {
      store.probe = probe;
    }
    await expect.poll(async () => (await ready()).status, { timeout: 8_000, interval: 50 }).toBe(200);
  });
});
