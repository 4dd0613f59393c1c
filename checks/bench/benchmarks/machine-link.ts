/**
 * What a runner on a node costs beside one on the service's own host: the same service with the same real runner, once
 * reached over its unix socket, and once over mTLS as on another machine. In turns.
 */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Setup } from '../lib/benchmark.ts';
import { cpuOf } from '../lib/cpu.ts';
import { tlsEnv } from '../lib/machines.ts';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { freePort } from '../../harness/free-port.ts';
import { endLeftovers, endProcess, runnerOf, spawnService } from '../../harness/service.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import { TestAuthority } from '../../../packages/runner/src/tls/certificates.fixture.ts';

const SERVER =
  "import { createServer } from 'node:http'; createServer((req, res) => res.end('seen')).listen(3210);";
const FILES = [
  { path: 'a.txt', content: 'a\n' },
  { path: 'server.mjs', content: SERVER },
];
const READY_MS = 60_000;

interface Side {
  name: 'unix socket' | 'mTLS';
  service: Service;
  thread: string;
  /** Of the preview. */
  url: string;
  /** ms of CPU of the service and its runner, without sandboxes. */
  cpu(): number;
}

export const machineLinkBenchmark: Benchmark = {
  name: 'machine-link',
  title: 'A runner over mTLS and over a unix socket: a run, and a visit to a preview',
  async run(setup) {
    const sides = await Promise.all([ownHost(setup), onNode(setup)]);
    const runs = await inTurns(sides, setup.quick ? 5 : 30, runOnce);
    setup.say(noteOf('A run', runs));
    const visits = await inTurns(sides, setup.quick ? 100 : 200, visitOnce);
    return {
      rows: [...runs.rows, ...visits.rows],
      aims: [
        {
          what: 'message → completed, p50, more over mTLS',
          bound: 'most',
          limit: 15,
          value: runs.more.ms,
          unit: 'ms',
        },
        {
          what: 'visit to a preview, p50, more over mTLS',
          bound: 'most',
          limit: 3,
          value: visits.more.ms,
          unit: 'ms',
        },
      ],
      notes: [noteOf('A run', runs), noteOf('A visit', visits)],
    };
  },
};

const noteOf = (what: string, { more }: Measured) =>
  `${what} takes ${more.ms.toFixed(1)} ms more over mTLS, as the median of the differences of two that followed each other, and ${more.cpu.toFixed(1)} ms more CPU of service and runner, on average.`;

interface Measured {
  rows: { what: string; unit: 'ms'; figures: ReturnType<typeof summarize> }[];
  /** Of the second side: the median of the differences of pairs, and the mean of the CPU. */
  more: { ms: number; cpu: number };
}

async function inTurns(
  sides: Side[],
  count: number,
  work: (side: Side, n: number) => Promise<unknown>,
): Promise<Measured> {
  const times: number[][] = sides.map(() => []);
  const cpu = sides.map(() => 0);
  for (let n = -3; n < count; n++)
    for (const [i, side] of n % 2 === 0 ? [...sides.entries()] : [...sides.entries()].reverse()) {
      const [from, before] = [performance.now(), side.cpu()];
      await work(side, n);
      if (n < 0) continue;
      times[i]!.push(performance.now() - from);
      cpu[i]! += (side.cpu() - before) / count;
    }
  const what = work === runOnce ? 'message sent → completed seen' : 'visit to a preview';
  return {
    rows: sides.map(({ name }, i) => ({
      what: `${what}, ${name}`,
      unit: 'ms',
      figures: summarize(times[i]!),
    })),
    more: {
      ms: summarize(times[1]!.map((ms, n) => ms - times[0]![n]!)).median,
      cpu: cpu[1]! - cpu[0]!,
    },
  };
}

async function ownHost(setup: Setup): Promise<Side> {
  const service = await setup.start({ hasSession: true });
  const runner = runnerOf(service.dataDir);
  const cpu = () => cpuOf(service.pid) + cpuOf(runner);
  return { name: 'unix socket', service, ...(await prepare(service)), cpu };
}

async function onNode(setup: Setup): Promise<Side> {
  const authority = new TestAuthority(setup.scratch);
  const worker = `127.0.0.1:${await freePort()}`;
  const service = await setup.start({
    hasSession: true,
    env: {
      HEADRACE_ROLES: 'api,worker',
      HEADRACE_WORKER_LISTEN: worker,
      ...tlsEnv(authority.of('api', 'worker')),
    },
  });
  const dataDir = mkdtempSync(join(setup.scratch, 'node-'));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawnService({
    dataDir,
    key: service.key,
    hasSession: true,
    env: {
      HEADRACE_ROLES: 'runner',
      HEADRACE_RUNNER_LISTEN: address,
      HEADRACE_RUNNER_ADDRESS: address,
      HEADRACE_WORKER_ADDRESS: worker,
      HEADRACE_RUNNER_CAPACITY: '8',
      HEADRACE_DRAIN_SECONDS: '0',
      ...tlsEnv(authority.of('runner')),
    },
  });
  setup.atEnd(async () => {
    await endProcess(child);
    await endLeftovers(dataDir);
  });
  child.stderr!.resume();
  await once(child.stdout!, 'data');
  child.stdout!.resume();
  const runner = runnerOf(dataDir);
  const cpu = () => cpuOf(service.pid) + cpuOf(runner);
  return { name: 'mTLS', service, ...(await prepare(service)), cpu };
}

async function prepare(service: Service): Promise<Pick<Side, 'thread' | 'url'>> {
  const { app, sourceId } = await newAppWith(service, FILES);
  const thread = await newReadyThread(service, app, sourceId);
  const { body } = await service.call('POST', `${thread}/previews`, {
    command: 'node server.mjs',
    port: 3210,
  });
  for (const deadline = Date.now() + READY_MS; ; await sleep(100)) {
    const { preview } = (await service.call('GET', `${app}/previews/${body.preview.id as string}`)).body;
    if (preview.status === 'ready') return { thread, url: preview.url as string };
    if (preview.status === 'failed' || Date.now() > deadline)
      throw new Error(`The preview is ${String(preview.status)}: ${JSON.stringify(preview.error)}`);
  }
}

async function runOnce({ service, thread }: Side, n: number): Promise<void> {
  const { body } = await service.call('POST', `${thread}/messages`, {
    content: `\`\`\`sh\necho ${n} >> a.txt\n\`\`\``,
  });
  const { run } = (await service.call('GET', `${thread}/runs/${body.run.id as string}?waitSeconds=30`)).body;
  if (run.status !== 'completed') throw new Error(`The run is ${String(run.status)}`);
}

async function visitOnce({ service, url }: Side): Promise<void> {
  const { hostname, port } = new URL(service.base);
  const asked = request({ hostname, port, headers: { host: new URL(url).host }, agent: false }).end();
  const [answer] = await once(asked, 'response');
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  if (Buffer.concat(parts).toString() !== 'seen')
    throw new Error(`The preview answered ${answer.statusCode}`);
}
