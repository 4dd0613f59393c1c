/** What it costs to be measured: reads and writes of a service with HEADRACE_METRICS_LISTEN, and of one without. */
import { randomUUID } from 'node:crypto';
import { newApp } from '../../harness/apps.ts';
import { freePort } from '../../harness/free-port.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { cpuOfTree } from '../lib/cpu.ts';
import { load } from '../lib/load.ts';

const CONNECTIONS = 16;
/** Prometheus' usual interval is 15 s. */
const SCRAPE_MS = 5_000;

interface Measured {
  rate: number;
  /** µs of CPU of the service for each request. */
  cpu: number;
}
type Work = 'read' | 'write';

export const metricsBenchmark: Benchmark = {
  name: 'metrics',
  title: `GET and PATCH app over ${CONNECTIONS} connections, measured and not`,
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const start = (env: Record<string, string>, again = {}) =>
      startServiceOn(setup, database, { HEADRACE_ROLES: 'api', ...env }, [], again);
    const plain = await start({});
    const listen = `127.0.0.1:${await freePort()}`;
    const measured = await start({ HEADRACE_METRICS_LISTEN: listen }, { key: plain.key });
    let series = 0;
    const scraping = setInterval(() => void scrape(), SCRAPE_MS);
    setup.atEnd(() => clearInterval(scraping));
    const scrape = async () => {
      const text = await (await fetch(`http://${listen}/metrics`)).text();
      series = text.split('\n').filter((line) => line && !line.startsWith('#')).length;
    };
    const apps: string[] = [];
    for (let i = 0; i < CONNECTIONS; i++) apps.push(await newApp(plain));

    const seconds = 1;
    const ask = async (service: Service, work: Work): Promise<Measured> => {
      const from = cpuOfTree(service.pid);
      const rate = await load(service.base, requestOf(service.key, apps, work), CONNECTIONS, seconds);
      return { rate, cpu: ((cpuOfTree(service.pid) - from) * 1000) / (rate * seconds) };
    };
    const found: Record<Work, { plain: Measured[]; measured: Measured[] }> = {
      read: { plain: [], measured: [] },
      write: { plain: [], measured: [] },
    };
    for (let round = -1; round < (setup.quick ? 2 : 30); round++)
      for (const work of ['read', 'write'] as const) {
        // Who is first changes, so that neither always finds the machine as the other has left it.
        const order = round % 2 ? ([plain, measured] as const) : ([measured, plain] as const);
        const answers = new Map<Service, Measured>();
        for (const service of order) answers.set(service, await ask(service, work));
        // The first round compiles both.
        if (round < 0) continue;
        found[work].plain.push(answers.get(plain)!);
        found[work].measured.push(answers.get(measured)!);
        const [without, withThem] = [answers.get(plain)!, answers.get(measured)!];
        setup.say(
          `round ${round + 1}, ${work}s: ${without.rate.toFixed(0)}/s, measured ${withThem.rate.toFixed(0)}/s`,
        );
      }
    const figures = (work: Work, which: 'plain' | 'measured', of: keyof Measured) =>
      summarize(found[work][which].map((one) => one[of]));
    const works = ['read', 'write'] as const;
    return {
      rows: works.flatMap((work) => [
        { what: `${work}s`, unit: 'requests/s' as const, figures: figures(work, 'plain', 'rate') },
        {
          what: `${work}s, measured`,
          unit: 'requests/s' as const,
          figures: figures(work, 'measured', 'rate'),
        },
        { what: `${work}, CPU of Node`, unit: 'µs' as const, figures: figures(work, 'plain', 'cpu') },
        {
          what: `${work}, CPU of Node, measured`,
          unit: 'µs' as const,
          figures: figures(work, 'measured', 'cpu'),
        },
      ]),
      // Of pairs: the turns of a pair find the same machine, those of the whole run may not.
      aims: works.map((work) => ({
        what: `CPU of a ${work}, measured, of the same without (median of pairs)`,
        bound: 'most' as const,
        limit: 102,
        value: summarize(found[work].measured.map((one, i) => (one.cpu / found[work].plain[i]!.cpu) * 100))
          .median,
        unit: '%' as const,
      })),
      notes: [
        `In turns of ${seconds} s, two API processes on the same PostgreSQL. The measured one is read every ${SCRAPE_MS / 1000} s, three times as often as Prometheus would: ${series} series.`,
      ],
    };
  },
};

const requestOf = (key: string, apps: string[], work: Work) => {
  let count = 0;
  return (connection: number) => ({
    method: work === 'read' ? ('GET' as const) : ('PATCH' as const),
    path: apps[connection]!,
    headers: { 'x-api-key': key, ...(work === 'write' ? { 'idempotency-key': randomUUID() } : {}) },
    ...(work === 'write' ? { body: { name: `App ${count++}` } } : {}),
  });
};
