/**
 * Preloaded into the service with `--import`: watches its event loop and, on SIGUSR2, writes that and its
 * memory to the file that HEADRACE_BENCH_PROBE_FILE names. With `--expose-gc` garbage is collected before.
 * The product has no such hook.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/**
 * Node's default: a finer one would count more idle turns, and hide a long one among them. It is part of
 * what is measured and taken off.
 */
const RESOLUTION_MS = 10;

if (isMainThread && process.env.HEADRACE_BENCH_PROBE_FILE) {
  const file = process.env.HEADRACE_BENCH_PROBE_FILE;
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  histogram.enable();
  process.on('SIGUSR2', () => {
    /** Since it was asked last. */
    const loop = {
      count: histogram.count,
      min: ms(histogram.min),
      median: ms(histogram.percentile(50)),
      p95: ms(histogram.percentile(95)),
      p99: ms(histogram.percentile(99)),
      max: ms(histogram.max),
    };
    histogram.reset();
    globalThis.gc?.();
    writeFileSync(`${file}.part`, JSON.stringify({ loop, memory: process.memoryUsage() }));
    renameSync(`${file}.part`, file);
  });
}
