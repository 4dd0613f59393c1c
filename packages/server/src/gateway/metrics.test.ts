import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMetrics } from '@headrace/runner/metrics';
import { SERVER_METRICS } from '../metrics/table.ts';
import { answerAll, COST, newGatewayBench, PATHS, request } from './gateway.fixture.ts';
import type { GatewayBench } from './gateway.fixture.ts';

let b: GatewayBench;
beforeAll(async () => {
  b = await newGatewayBench();
});
afterAll(async () => {
  await b?.close();
});

test('calls of models count by provider and outcome, with what they use and cost', async () => {
  const metrics = openMetrics(SERVER_METRICS);
  b.s.service.ctx.metrics = metrics;
  const body = request('anthropic', 300);
  b.upstream.answers(answerAll);
  expect((await b.call(await b.run(), PATHS.anthropic, body)).status).toBe(200);
  b.upstream.answers((res) => res.writeHead(400, { 'content-type': 'application/json' }).end('{}'));
  expect((await b.call(await b.run(), PATHS.anthropic, body)).status).toBe(400);
  b.s.service.ctx.config.providers.gone = {
    baseUrl: 'http://127.0.0.1:1/v1',
    wires: ['anthropic'],
    key: 'none',
  };
  expect((await b.call(await b.run({ modelId: 'gone/x' }), '/gone/v1/messages', body)).status).toBe(502);
  const text = await metrics.text();
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`headrace_model_${name} `))
        ?.split(' ')[1],
    );
  expect(value('call_seconds_count{provider="acme",outcome="ok"}')).toBe(1);
  expect(value('call_seconds_count{provider="acme",outcome="refused"}')).toBe(1);
  expect(value('call_seconds_count{provider="gone",outcome="unreachable"}')).toBe(1);
  expect(value('cost_micros_total{provider="acme"}')).toBe(COST);
  expect(value('tokens_total{provider="acme",direction="input"}')).toBeGreaterThan(0);
  expect(value('tokens_total{provider="acme",direction="output"}')).toBeGreaterThan(0);
});
