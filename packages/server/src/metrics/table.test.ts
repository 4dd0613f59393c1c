/** The numbers of series that the table allows, and what is measured of a store and a runner. */
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { MACHINE_METRICS, openMetrics, RUNNER_METRICS } from '@headrace/runner/metrics';
import type { Definition, MetricTable } from '@headrace/runner/metrics';
import type { RunnerClient } from '@headrace/runner/client';
import { routes } from '../app.ts';
import { ObjectNotFoundError } from '../storage/object-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { measuredRunner } from './measured-runner.ts';
import { measuredStore } from './measured-store.ts';
import { SERVER_METRICS } from './table.ts';

/** What a label may be that the table describes in words, at the most. */
const MANY = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const SETS: Record<string, string[]> = {
  'operations of the API': [...new Set(routes.map((route) => route.operation.name))],
  'kinds of jobs': MANY('kind', 24),
  'pools of runners': MANY('pool', 20),
  'providers of the configuration': MANY('provider', 6),
};

/** Only of a process that does jobs. */
const OF_WORKERS = /^headrace_(job_claim|run_phase|runs_total|workspace|capture|model|apply)/;

/** Of any table: the test makes names and labels from it. */
interface AnyMetrics {
  count(name: string, labels: Record<string, string>): void;
  observe(name: string, labels: Record<string, string>, value: number): void;
  set(name: string, ...series: { labels: Record<string, string>; value: number }[]): void;
}

/** Every series that can be, written once. */
function fill(metrics: AnyMetrics, table: MetricTable): void {
  for (const [name, definition] of Object.entries(table)) {
    const all = series(definition);
    if (definition.type === 'gauge') metrics.set(name, ...all.map((labels) => ({ labels, value: 1 })));
    for (const labels of all) {
      if (definition.type === 'counter') metrics.count(name, labels);
      if (definition.type === 'histogram') metrics.observe(name, labels, 1);
    }
  }
}

function series({ labels = {} }: Definition): Record<string, string>[] {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    const set = typeof values === 'string' ? SETS[values]! : values;
    all = all.flatMap((rest) => set.map((value) => ({ ...rest, [label]: value })));
  }
  return all;
}

async function seriesOf(table: MetricTable): Promise<number> {
  const metrics = openMetrics(table, { process: true });
  fill(metrics, table);
  return (await metrics.text()).split('\n').filter((line) => line && !line.startsWith('#')).length;
}

describe('the table', () => {
  test('an API process has at most 5,000 series, a runner 300', async () => {
    const ofApi = Object.fromEntries(
      Object.entries<Definition>(SERVER_METRICS).filter(([name]) => !OF_WORKERS.test(name)),
    );
    expect(await seriesOf(ofApi)).toBeGreaterThan(4_000);
    expect(await seriesOf(ofApi)).toBeLessThanOrEqual(5_000);
    expect(await seriesOf({ ...RUNNER_METRICS, ...MACHINE_METRICS })).toBeLessThanOrEqual(300);
  });

  test('labels are words of a closed set, names say their unit', () => {
    for (const [name, { type, help, labels = {}, buckets }] of Object.entries<Definition>({
      ...SERVER_METRICS,
      ...RUNNER_METRICS,
    })) {
      expect(name).toMatch(/^headrace_[a-z]+(_[a-z]+)*$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(help).toMatch(/^[A-Z].*\.$/);
      for (const values of Object.values(labels))
        if (typeof values === 'string') expect(Object.keys(SETS)).toContain(values);
        else expect(values.join(' ')).toMatch(/^[a-z0-9_ ]+$/);
      expect(buckets?.toSorted((a, b) => a - b)).toEqual(buckets);
    }
  });
});

describe('a measured store', () => {
  const failing = storeThat(async () => Promise.reject(new Error('away')));
  const samples = async (store: ObjectStore, use: (store: ObjectStore) => Promise<unknown>) => {
    const metrics = openMetrics(SERVER_METRICS);
    await use(measuredStore(store, metrics)).catch(() => {});
    return (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('headrace_store_seconds_count') && !line.endsWith(' 0'));
  };

  test('counts calls by their outcome', async () => {
    const well = storeThat(async () => Buffer.alloc(0));
    expect(await samples(well, (store) => store.put('a', Buffer.alloc(1)))).toEqual([
      'headrace_store_seconds_count{op="put",outcome="ok"} 1',
    ]);
    expect(await samples(failing, (store) => store.getRange('a', 0, 1))).toEqual([
      'headrace_store_seconds_count{op="get",outcome="failed"} 1',
    ]);
    expect(await samples(failing, (store) => store.getStream('a'))).toEqual([
      'headrace_store_seconds_count{op="get",outcome="failed"} 1',
    ]);
  });

  test('that there is no such object is an answer', async () => {
    const empty = storeThat(async () => Promise.reject(new ObjectNotFoundError('none')));
    expect(await samples(empty, (store) => store.get('a'))).toEqual([
      'headrace_store_seconds_count{op="get",outcome="ok"} 1',
    ]);
  });

  test('hands errors on', async () => {
    const store = measuredStore(failing, openMetrics(SERVER_METRICS));
    await expect(store.head('a')).rejects.toThrow('away');
  });
});

/** A store whose calls all end so. */
function storeThat(end: () => Promise<unknown>): ObjectStore {
  return new Proxy({} as ObjectStore, { get: () => end });
}

test('a measured runner knows by which way a workspace was made, and leaves refusals out', async () => {
  const metrics = openMetrics(SERVER_METRICS);
  const client = {
    putWorkspace: async (id: string) => {
      if (id === 'refused') throw new Error('not_cached');
    },
    capture: async () => ({ files: [] }),
  } as unknown as RunnerClient;
  const runner = measuredRunner(client, metrics);
  await runner.putWorkspace('a', undefined, { base: 'key' });
  await runner.putWorkspace('a', Readable.from([]), { base: 'key' });
  await runner.putWorkspace('a', Readable.from([]), { keep: { key: 'key', group: 'g' } });
  await runner.putWorkspace('a', Readable.from([]));
  await expect(runner.putWorkspace('refused', undefined, { base: 'key' })).rejects.toThrow('not_cached');
  await runner.capture('a', []);
  const text = await metrics.text();
  for (const [way, count] of [
    ['kept', 1],
    ['patch', 1],
    ['full', 2],
  ])
    expect(text).toContain(`headrace_workspace_restore_seconds_count{way="${way}"} ${count}`);
  expect(text).toContain('headrace_capture_seconds_count 1');
});
