import { get } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listenForMetrics } from './listen.ts';
import type { MetricsListener } from './listen.ts';
import { noMetrics, openMetrics } from './metrics.ts';
import type { MetricTable } from './metrics.ts';

const TABLE = {
  x_calls_total: { type: 'counter', help: 'Calls.', labels: { outcome: ['ok', 'failed'] } },
  x_age_seconds: { type: 'gauge', help: 'Age.' },
  x_rooms: { type: 'gauge', help: 'Rooms.', labels: { state: ['free', 'used'] } },
  x_wait_seconds: { type: 'histogram', help: 'Wait.', buckets: [0.1, 1] },
} as const satisfies MetricTable;

const samples = (text: string) => text.split('\n').filter((line) => line && !line.startsWith('#'));

describe('metrics', () => {
  test('counters, gauges and histograms are read in the text format', async () => {
    const metrics = openMetrics(TABLE);
    metrics.count('x_calls_total', { outcome: 'ok' });
    metrics.count('x_calls_total', { outcome: 'ok' }, 2);
    metrics.set('x_age_seconds', { labels: {}, value: 3 });
    metrics.observe('x_wait_seconds', {}, 0.5);
    const text = await metrics.text();
    expect(text).toContain('# HELP x_calls_total Calls.\n# TYPE x_calls_total counter');
    expect(samples(text)).toEqual([
      'x_calls_total{outcome="ok"} 3',
      'x_calls_total{outcome="failed"} 0',
      'x_age_seconds 3',
      'x_wait_seconds_bucket{le="0.1"} 0',
      'x_wait_seconds_bucket{le="1"} 1',
      'x_wait_seconds_bucket{le="+Inf"} 1',
      'x_wait_seconds_sum 0.5',
      'x_wait_seconds_count 1',
    ]);
  });

  test('a gauge shows nothing before its first reading, and only what the last reading gave', async () => {
    const metrics = openMetrics(TABLE);
    expect(await metrics.text()).not.toMatch(/^x_(age|rooms)/m);
    metrics.set('x_rooms', { labels: { state: 'free' }, value: 1 }, { labels: { state: 'used' }, value: 2 });
    metrics.set('x_age_seconds', { labels: {}, value: 3 });
    expect(samples(await metrics.text())).toEqual(
      expect.arrayContaining(['x_rooms{state="free"} 1', 'x_rooms{state="used"} 2', 'x_age_seconds 3']),
    );
    metrics.set('x_rooms', { labels: { state: 'used' }, value: 1 });
    metrics.set('x_age_seconds');
    const text = await metrics.text();
    expect(text).toContain('x_rooms{state="used"} 1');
    expect(text).not.toMatch(/free|^x_age/m);
  });

  test('what is only known by looking is looked at before each answer; a look that fails spoils none', async () => {
    const metrics = openMetrics(TABLE);
    let age = 0;
    metrics.beforeRead(() => Promise.reject(new Error('away')));
    metrics.beforeRead(() => {
      throw new Error('broken');
    });
    metrics.beforeRead(() => metrics.set('x_age_seconds', { labels: {}, value: ++age }));
    expect(await metrics.text()).toContain('x_age_seconds 1');
    expect(await metrics.text()).toContain('x_age_seconds 2');
  });

  test('a series with known labels begins at 0, so that its first step is seen', async () => {
    const text = await openMetrics(TABLE).text();
    expect(text).toContain('x_calls_total{outcome="failed"} 0');
    expect(text).toContain('x_wait_seconds_count 0');
  });

  test('two of them share nothing', async () => {
    const [one, other] = [openMetrics(TABLE), openMetrics(TABLE)];
    one.count('x_calls_total', { outcome: 'failed' });
    expect(await other.text()).toContain('x_calls_total{outcome="failed"} 0');
  });

  test('where nobody reads them, nothing is measured', async () => {
    const metrics = noMetrics<typeof TABLE>();
    metrics.count('x_calls_total', { outcome: 'ok' });
    metrics.beforeRead(() => expect.unreachable());
    expect(await metrics.text()).toBe('');
  });
});

describe('the listener', () => {
  let listener: MetricsListener | undefined;
  afterEach(async () => {
    await listener?.close();
    listener = undefined;
  });
  const ask = async (path: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${listener!.port}${path}`, init);

  test('answers GET and HEAD of /metrics, and nothing else', async () => {
    listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, async () => 'x 1\n');
    const found = await ask('/metrics?x=1');
    expect([found.status, found.headers.get('content-type'), await found.text()]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'x 1\n',
    ]);
    expect((await ask('/metrics', { method: 'HEAD' })).status).toBe(200);
    expect((await ask('/metrics', { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await ask('/')).status).toBe(404);
  });

  test('500 where the metrics cannot be read', async () => {
    listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, () => Promise.reject(new Error('x')));
    expect((await ask('/metrics')).status).toBe(500);
  });

  test('throws where the port is taken, and closes kept connections', async () => {
    listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, async () => '');
    const { port } = listener;
    await expect(listenForMetrics({ host: '127.0.0.1', port }, async () => '')).rejects.toThrow('EADDRINUSE');
    await new Promise((resolve) => {
      get({ port, path: '/metrics', headers: { connection: 'keep-alive' } }, (res) =>
        res.resume().once('end', resolve),
      );
    });
    await listener.close();
    await expect(ask('/metrics')).rejects.toThrow();
  });
});
