import { expect, test } from 'vitest';
import { openMetrics } from '../metrics/metrics.ts';
import { RUNNER_METRICS } from '../metrics/table.ts';
import { serveMetrics } from './serve-metrics.ts';

const host = { metrics: openMetrics(RUNNER_METRICS) } as never;
const tls = { goodUntil: new Date(Date.now() + 3_600_000) } as never;

test("a runner on a node serves its own metrics, its process's, and when its certificate expires", async () => {
  const listener = await serveMetrics({ host }, { listen: { host: '127.0.0.1', port: 0 }, tls });
  try {
    const text = await (await fetch(`http://127.0.0.1:${listener!.port}/metrics`)).text();
    expect(text).toContain('headrace_sandbox_start_seconds_count 0');
    expect(text).toContain('# TYPE process_resident_memory_bytes gauge');
    expect(Number(/^headrace_certificate_expiry_seconds (\S+)/m.exec(text)![1])).toBeCloseTo(3600, -2);
    const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(new Set(types).size).toBe(types.length);
  } finally {
    await listener!.close();
  }
});

test('no port is open where nobody reads them', async () => {
  expect(await serveMetrics({ host }, { listen: null, tls })).toBeUndefined();
});
