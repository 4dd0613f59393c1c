/**
 * Whether a large import holds up everybody else: the delay of the service's event loop while it imports 32
 * MiB.
 */
import { newApp } from '../../harness/apps.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { makeProbe } from '../lib/probe.ts';
import { prepare } from './import.ts';

export const eventLoopBenchmark: Benchmark = {
  name: 'event-loop',
  title: 'Event loop of the service during imports of 32 MiB',
  async run(setup) {
    const { json, archive } = await prepare(setup);
    const probe = makeProbe(setup.scratch);
    const service = await setup.start(probe.options);
    const seen = async () => (await probe.ask(service.pid)).loop;
    await imports(json, 1);
    await seen();
    const rounds = setup.quick ? 2 : 8;
    await imports(json, rounds);
    const duringJson = await seen();
    await imports(archive, rounds, 'application/gzip');
    const duringArchive = await seen();
    return {
      rows: [
        { what: `delay during ${rounds} imports, JSON`, unit: 'ms', figures: duringJson },
        { what: `delay during ${rounds} imports, tar.gz`, unit: 'ms', figures: duringArchive },
      ],
      aims: [
        { what: 'JSON, p99', bound: 'most', limit: 50, value: duringJson.p99, unit: 'ms' },
        { what: 'tar.gz, p99', bound: 'most', limit: 50, value: duringArchive.p99, unit: 'ms' },
      ],
      notes: [
        'perf_hooks.monitorEventLoopDelay inside the service, sampled every 10 ms; these 10 ms are subtracted. The imports run one after the other, without pause. The worst delay is the largest sample.',
      ],
    };

    async function imports(body: Buffer, count: number, contentType?: string): Promise<void> {
      for (let i = 0; i < count; i++) {
        const app = await newApp(service);
        await service.call('POST', `${app}/sources`, body, { contentType });
      }
    }
  },
};
