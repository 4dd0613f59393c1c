/** The alerts of deploy/prometheus with Prometheus' own programs: alone, and about a real service. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { RUNNER_METRICS } from '@headrace/runner/metrics';
import { SERVER_METRICS } from '../../packages/server/src/metrics/table.ts';
import { startTestServer } from '../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../packages/server/src/service.fixture.ts';
import { freePort } from '../harness/free-port.ts';
import { getPrometheus } from '../harness/programs.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy/prometheus');
const ALERTS = join(DEPLOY, 'alerts.yaml');
const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/operations.md'), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}
const rules = (parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

const TABLE = { ...SERVER_METRICS, ...RUNNER_METRICS };

const programs = getPrometheus((line) => process.stderr.write(`${line}\n`));
if (programs === null)
  process.stderr.write('SKIPPED, the alerts: apt-get install prometheus to run their tests\n');

describe('the alerts', () => {
  test('ask for metrics and labels that exist', () => {
    for (const { expr } of rules) {
      const names = [...expr.matchAll(/headrace_\w+/g)].map(([name]) =>
        name.replace(/_(bucket|count|sum)$/, ''),
      );
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(Object.keys(TABLE)).toContain(name);
      for (const [, name, label, , values] of expr.matchAll(/(headrace_\w+)\{(\w+)(=|!=|!~)"([^"]+)"/g)) {
        const { labels } = TABLE[name!.replace(/_(bucket|count|sum)$/, '') as keyof typeof TABLE] as {
          labels: Record<string, readonly string[]>;
        };
        for (const value of values!.split('|')) expect(labels[label!]).toContain(value);
      }
    }
  });

  test('have a severity, a name of their own and a sentence, and are in the guide', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).toBeTruthy();
      expect(GUIDE).toContain(`\`${alert}\``);
    }
  });

  test('all metrics are in the guide', () => {
    for (const name of Object.keys(TABLE)) expect(GUIDE).toContain(name.replace('headrace_', ''));
  });
});

describe.skipIf(programs === null)('with promtool', () => {
  const promtool = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(programs!, 'promtool'), args, {
      cwd: DEPLOY,
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { status, said: stdout + stderr };
  };

  test('the rules are sound', () => {
    expect(promtool('check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  });

  test('each alert fires and ends', () => {
    const tests = readFileSync(join(DEPLOY, 'alerts.test.yaml'), 'utf8');
    for (const { alert } of rules) expect(tests).toContain(`alertname="${alert}"`);
    const { status, said } = promtool('test', 'rules', 'alerts.test.yaml');
    expect([status, said]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  test("the guide's configuration is sound", () => {
    const dir = mkdtempSync(join(tmpdir(), 'headrace-promtool-'));
    try {
      writeFileSync(join(dir, 'prometheus.yml'), guideConfig(ALERTS));
      expect(promtool('check', 'config', join(dir, 'prometheus.yml'))).toMatchObject({ status: 0 });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

/** As it stands in the guide, with the path of the rules. */
function guideConfig(alerts: string): string {
  const config = /^```yaml\n(global:[\s\S]*?)^```$/m.exec(GUIDE)![1]!;
  expect(config).toContain('/etc/prometheus/headrace-alerts.yaml');
  return config.replace('/etc/prometheus/headrace-alerts.yaml', alerts);
}

describe.skipIf(programs === null)('a real Prometheus', () => {
  let server: TestServer;
  let prometheus: ChildProcess;
  let base: string;
  const dir = mkdtempSync(join(tmpdir(), 'headrace-prometheus-'));

  beforeAll(async () => {
    server = await startTestServer({ HEADRACE_METRICS_LISTEN: '127.0.0.1:0' });
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    const config = guideConfig(ALERTS)
      .replace('127.0.0.1:9464', `127.0.0.1:${server.service.metricsPort}`)
      .replaceAll(/(scrape|evaluation)_interval: \w+/g, '$1_interval: 1s');
    writeFileSync(join(dir, 'prometheus.yml'), config);
    prometheus = spawn(
      join(programs!, 'prometheus'),
      [
        `--config.file=${join(dir, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
  }, 60_000);
  afterAll(async () => {
    if (prometheus?.exitCode === null) {
      prometheus.kill();
      await once(prometheus, 'exit');
    }
    await server?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  /** The samples of a query, once there are some. */
  async function query(expr: string): Promise<Sample[]> {
    for (const end = Date.now() + 30_000; ;) {
      const answer = await fetch(`${base}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`)
        .then((response) => response.json() as Promise<{ data?: { result: Sample[] } }>)
        .catch(() => null);
      if (answer?.data?.result.length) return answer.data.result;
      if (Date.now() > end) throw new Error(`${expr}: ${JSON.stringify(answer)}`);
      await sleep(100);
    }
  }

  test('reads a service, and evaluates the alerts without a fault', async () => {
    await server.call('GET', '/api/platform/v1/apps');
    expect((await query('up{job="headrace"} == 1'))[0]!.value[1]).toBe('1');
    const [requests] = await query(
      'headrace_http_request_duration_seconds_count{operation="projects.listApps",class="ok"}',
    );
    expect(Number(requests!.value[1])).toBeGreaterThan(0);
    expect(Number((await query('headrace_outbox_oldest_seconds'))[0]!.value[1])).toBeLessThan(5);
    await query('histogram_quantile(0.99, sum by (le) (headrace_job_claim_seconds_bucket))');
    const series = await query('count({job="headrace"})');
    expect(Number(series[0]!.value[1])).toBeLessThan(5_000);
    const evaluated = async () =>
      (
        (await (await fetch(`${base}/api/v1/rules`)).json()) as {
          data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
        }
      ).data.groups.flatMap((group) => group.rules);
    for (const end = Date.now() + 30_000; ;) {
      const found = await evaluated();
      if (found.length === rules.length && found.every(({ health }) => health !== 'unknown')) {
        expect(found.filter(({ health }) => health !== 'ok')).toEqual([]);
        break;
      }
      if (Date.now() > end) throw new Error('the alerts were not evaluated');
      await sleep(100);
    }
  }, 90_000);
});
