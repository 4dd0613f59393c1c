/** Whether a large import holds up everybody else: the delay of the service's event loop while it imports 32 MiB. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApp } from '../lib/apps.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import type { Summary } from '../lib/statistics.ts';
import { prepare } from './import.ts';

const PRELOAD = join(import.meta.dirname, '../loop-delay.mjs');
const ANSWER_LIMIT_MS = 5_000;

export const eventLoopBenchmark: Benchmark = {
  name: 'event-loop',
  title: 'Event loop of the service during imports of 32 MiB',
  async run(setup) {
    const { json, archive } = await prepare(setup);
    const file = join(setup.scratch, 'loop-delay.json');
    const service = await setup.start({ nodeArgs: ['--import', PRELOAD], env: { HEADRACE_BENCH_LOOP_FILE: file } });
    await imports(json, 1);
    await seen();
    const rounds = setup.quick ? 2 : 8;
    await imports(json, rounds);
    const duringJson = await seen();
    await imports(archive, rounds, 'application/gzip');
    const duringArchive = await seen();
    return {
      rows: [{ what: `delay during ${rounds} imports, JSON`, unit: 'ms', figures: duringJson }, { what: `delay during ${rounds} imports, tar.gz`, unit: 'ms', figures: duringArchive }],
      aims: [{ what: 'JSON, p99', bound: 'most', limit: 50, value: duringJson.p99, unit: 'ms' }, { what: 'tar.gz, p99', bound: 'most', limit: 50, value: duringArchive.p99, unit: 'ms' }],
      notes: ['perf_hooks.monitorEventLoopDelay inside the service, sampled every 10 ms, which are taken off; imports one after the other, without pause. The worst delay is the largest sample.'],
    };

    async function imports(body: Buffer, count: number, contentType?: string): Promise<void> {
      for (let i = 0; i < count; i++) {
        const app = await newApp(service);
        await service.call('POST', `${app}/sources`, body, { contentType });
      }
    }

    /** What the service saw since it was asked last. */
    async function seen(): Promise<Summary> {
      rmSync(file, { force: true });
      process.kill(service.pid, 'SIGUSR2');
      for (const deadline = Date.now() + ANSWER_LIMIT_MS; !existsSync(file); await sleep(5)) if (Date.now() > deadline) throw new Error('The service did not tell of its event loop');
      return JSON.parse(readFileSync(file, 'utf8')) as Summary;
    }
  },
};
