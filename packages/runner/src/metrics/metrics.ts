/**
 * What a process measures of itself. A table names every metric once, with its type, help and labels; whoever
 * measures writes by name, and the compiler knows which labels belong to it. A process has one `Metrics`, which
 * is handed around: nothing here is global.
 *
 * Each combination of labels is a series, which Prometheus keeps for weeks, so the values of a label come from a
 * closed set: the table lists them, or says in words which few there are. An id is never one.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

export interface Definition {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  /** Each with its values; words where the set is known only at the start, such as the API's operations. */
  labels?: Record<string, readonly string[] | string>;
  /** Upper bounds of a histogram, in its unit. */
  buckets?: readonly number[];
}

export type MetricTable = Record<string, Definition>;

type NameOf<T extends MetricTable, Type> = {
  [N in keyof T]: T[N]['type'] extends Type ? N : never;
}[keyof T] &
  string;

export type LabelsOf<D extends Definition> = D extends { labels: infer L }
  ? { [K in keyof L]: L[K] extends readonly (infer V)[] ? V : string }
  : Record<string, never>;

export interface Metrics<T extends MetricTable> {
  /** Whether anybody can read them. */
  readonly isOn: boolean;
  count<N extends NameOf<T, 'counter'>>(name: N, labels: LabelsOf<T[N]>, by?: number): void;
  observe<N extends NameOf<T, 'histogram'>>(name: N, labels: LabelsOf<T[N]>, value: number): void;
  /** Replaces all series of a gauge: those that are not given are gone. */
  set<N extends NameOf<T, 'gauge'>>(name: N, ...series: { labels: LabelsOf<T[N]>; value: number }[]): void;
  /** `read` sets gauges that are only known by looking, before each answer. One that throws leaves them as they are. */
  beforeRead(read: () => Promise<void> | void): void;
  /** In Prometheus' text format. */
  text(): Promise<string>;
}

export const TEXT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** `process`: also memory, CPU time, event loop and garbage collection of this process. */
export function openMetrics<T extends MetricTable>(
  table: T,
  { process = false }: { process?: boolean } = {},
): Metrics<T> {
  const registry = new Registry();
  const instruments = new Map<string, Counter<string> | Gauge<string> | Histogram<string>>();
  for (const [name, definition] of Object.entries(table))
    instruments.set(name, instrumentOf(registry, name, definition));
  if (process) collectDefaultMetrics({ register: registry });
  const readers: (() => Promise<void> | void)[] = [];
  return {
    isOn: true,
    count: (name, labels, by = 1) => (instruments.get(name) as Counter<string>).inc(labels, by),
    observe: (name, labels, value) => (instruments.get(name) as Histogram<string>).observe(labels, value),
    set(name, ...series) {
      const gauge = instruments.get(name) as Gauge<string>;
      gauge.reset();
      if (series.length === 0) gauge.remove({});
      for (const { labels, value } of series) gauge.set(labels, value);
    },
    beforeRead: (read) => void readers.push(read),
    async text() {
      await Promise.allSettled(readers.map(async (read) => read()));
      return registry.metrics();
    },
  };
}

/** For a process whose metrics nobody reads: it measures nothing. */
export const noMetrics = <T extends MetricTable>(): Metrics<T> => ({
  isOn: false,
  count() {},
  observe() {},
  set() {},
  beforeRead() {},
  text: async () => '',
});

/** Since a time of `performance.now()`. */
export const secondsSince = (began: number): number => (performance.now() - began) / 1000;

function instrumentOf(
  registry: Registry,
  name: string,
  { type, help, labels = {}, buckets = [] }: Definition,
): Counter<string> | Gauge<string> | Histogram<string> {
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
  if (type === 'counter') {
    const counter = new Counter(options);
    for (const values of combinations(labels)) counter.inc(values, 0);
    return counter;
  }
  if (type === 'histogram') {
    const histogram = new Histogram({ ...options, buckets: [...buckets] });
    for (const values of combinations(labels)) histogram.zero(values);
    return histogram;
  }
  const gauge = new Gauge(options);
  // A gauge without labels begins at 0, which would be a reading that nobody made.
  if (options.labelNames.length === 0) gauge.remove({});
  return gauge;
}

/**
 * All series of labels whose values are known. They begin at 0: Prometheus does not see the step to a series that
 * begins at 1, and the first failure would be missing.
 */
function combinations(labels: NonNullable<Definition['labels']>): Record<string, string>[] {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return [];
    all = all.flatMap((rest) => values.map((value) => ({ ...rest, [label]: value })));
  }
  return all;
}
