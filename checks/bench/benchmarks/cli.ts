/**
 * What the packed command line costs: its start compared with a bare Node and with `gh`, the first byte of a read compared
 * with the same by `gh` and by a bare fetch, and the push of 10,000 files compared with the raw import.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { installed } from '../../cli/install.ts';
import { newApp } from '../../harness/apps.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { prepare } from './import.ts';

const STARTS = 30;
const PUSHES = 6;
/**
 * Writes the most memory that the process had since its start, in KiB, when it exits. `maxRSS` would count what its
 * parent had when it forked.
 */
const MEASURE =
  'data:text/javascript,import{readFileSync,writeSync}from"node:fs";process.on("exit",()=>writeSync(3,/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]))';

export const cliBenchmark: Benchmark = {
  name: 'cli',
  title: 'The command line: its start, reads, pushes, and memory',
  async run(setup) {
    const { packages, bytes } = await installed(setup.scratch);
    const program = join(setup.scratch, 'an install/node_modules/.bin/headrace');
    const starts = await startRows(setup, program);
    const pushes = await pushRows(setup, program);
    return {
      rows: [...starts.rows, ...pushes.rows],
      aims: [
        ...starts.aims,
        ...pushes.aims,
        { what: 'installed', bound: 'most', limit: 2_000, value: bytes / 1_000, unit: 'kB' },
      ],
      notes: [
        `The installation is ${packages} packages. Every process is new, with its files in the page cache and Node's compile cache filled, as after the first use. The first byte is of stdout, from the start of the process.`,
        ...starts.notes,
      ],
    };
  },
};

interface Started {
  firstByteMs: number;
  ms: number;
  /** KiB; 0 where it is not measured, which takes some milliseconds. */
  memory: number;
}

/** From the start of the process. Throws if it fails. */
function started(argv: readonly string[], env: Record<string, string> = {}, cwd = '/'): Promise<Started> {
  const isMeasured = env['MEASURE_MEMORY'] === '1';
  const [file, ...args] = isMeasured ? [argv[0]!, '--import', MEASURE, ...argv.slice(1)] : argv;
  const from = performance.now();
  const child = spawn(file!, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nowhere', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let [firstByteMs, memory, said] = [0, '', ''];
  child.stdout!.on('data', () => (firstByteMs ||= performance.now() - from));
  child.stderr!.on('data', (part: Buffer) => (said += part.toString()));
  child.stdio[3]!.on('data', (part: Buffer) => (memory += part.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      if (code === 0) resolve({ firstByteMs, ms: performance.now() - from, memory: Number(memory) });
      else reject(new Error(`${argv.join(' ')} ended with ${code}: ${said}`));
    });
  });
}

type Rows = { rows: Row[]; aims: Aim[]; notes: string[] };

async function startRows(setup: Setup, program: string): Promise<Rows> {
  const server = createServer((_, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ok: true, apps: [], nextCursor: null, hasMore: false }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  setup.atEnd(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    HEADRACE_URL: url,
    HEADRACE_KEY: 'hrk_x',
    XDG_CACHE_HOME: setup.scratch,
    TMPDIR: setup.scratch,
  };
  const headrace = [process.execPath, program];
  const fetching = `process.stdout.write(await (await fetch('${url}/apps')).text())`;
  const hasGh = spawnSync('gh', ['--version']).status === 0;
  const ghEnv = { GH_TOKEN: 'x', HOME: setup.scratch };
  const all: Record<
    string,
    { argv: string[]; env: Record<string, string>; taken: Started[]; memory: number[] }
  > = {
    bare: { argv: [process.execPath, '-e', 'console.log(1)'], env, taken: [], memory: [] },
    fetch: { argv: [process.execPath, '--input-type=module', '-e', fetching], env, taken: [], memory: [] },
    help: { argv: [...headrace, '--help'], env, taken: [], memory: [] },
    read: { argv: [...headrace, 'apps', 'list', '--json'], env, taken: [], memory: [] },
    ...(hasGh && {
      ghHelp: { argv: ['gh', '--help'], env: ghEnv, taken: [], memory: [] },
      ghRead: { argv: ['gh', 'api', `${url}/apps`], env: ghEnv, taken: [], memory: [] },
    }),
  };
  // In turns, so that what else the machine does concerns all alike. The first round fills the caches.
  for (let round = 0; round <= (setup.quick ? 5 : STARTS); round++)
    for (const one of Object.values(all)) {
      const taken = await started(one.argv, one.env);
      if (round > 0) one.taken.push(taken);
      if (round > 0 && one.argv[0] === process.execPath)
        one.memory.push((await started(one.argv, { ...one.env, MEASURE_MEMORY: '1' })).memory);
    }
  const whole = (name: string) => summarize(all[name]!.taken.map(({ ms }) => ms));
  const first = (name: string) => summarize(all[name]!.taken.map(({ firstByteMs }) => firstByteMs));
  const memory = (name: string) => summarize(all[name]!.memory);
  return {
    rows: [
      { what: '`headrace --help`', unit: 'ms', figures: whole('help') },
      { what: 'Node that prints 1', unit: 'ms', figures: whole('bare') },
      ...(hasGh ? [{ what: '`gh --help`', unit: 'ms' as const, figures: whole('ghHelp') }] : []),
      { what: '`headrace apps list`, first byte', unit: 'ms', figures: first('read') },
      { what: 'Node that fetches the same, first byte', unit: 'ms', figures: first('fetch') },
      ...(hasGh
        ? [{ what: '`gh api` of the same, first byte', unit: 'ms' as const, figures: first('ghRead') }]
        : []),
      { what: 'memory of `headrace --help`, at most', unit: 'KiB', figures: memory('help') },
      { what: 'memory of `headrace apps list`, at most', unit: 'KiB', figures: memory('read') },
      { what: 'memory of Node that fetches the same, at most', unit: 'KiB', figures: memory('fetch') },
    ],
    aims: [
      { what: '`--help`, median', bound: 'most', limit: 80, value: whole('help').median, unit: 'ms' },
      {
        what: 'first byte of a read, of a server that does nothing, median',
        bound: 'most',
        limit: 120,
        value: first('read').median,
        unit: 'ms',
      },
      ...(hasGh
        ? [
            {
              what: "`--help`, of gh's time (medians)",
              bound: 'most' as const,
              limit: 1.2,
              value: whole('help').median / whole('ghHelp').median,
              unit: '×' as const,
            },
            {
              what: "first byte of a read, of gh's time (medians)",
              bound: 'most' as const,
              limit: 1.2,
              value: first('read').median / first('ghRead').median,
              unit: '×' as const,
            },
          ]
        : []),
    ],
    notes: hasGh ? [] : ['`gh` is not on this machine: `apt-get install gh`.'],
  };
}

async function pushRows(setup: Setup, program: string): Promise<Rows> {
  const { json, folder } = await prepare(setup);
  const service = await setup.start();
  const [imports, pushes, unchanged]: [number[], Started[], Started[]] = [[], [], []];
  for (let round = 0; round < (setup.quick ? 2 : PUSHES); round++) {
    const { ms, status } = await service.call('POST', `${await newApp(service)}/sources`, json);
    if (status !== 201) throw new Error(`an import answered ${status}`);
    imports.push(ms);
    const env = {
      MEASURE_MEMORY: '1',
      ...signedIn(service),
      HOME: join(setup.scratch, `home-${round}`),
      HEADRACE_APP: await appId(service),
    };
    pushes.push(await started([process.execPath, program, 'push'], env, folder));
    unchanged.push(await started([process.execPath, program, 'push'], env, folder));
  }
  const times = (taken: readonly Started[]) => summarize(taken.map(({ ms }) => ms));
  return {
    rows: [
      { what: 'POST sources, JSON from memory', unit: 'ms', figures: summarize(imports) },
      { what: '`headrace push`, 10,000 files, first', unit: 'ms', figures: times(pushes) },
      { what: '`headrace push`, nothing changed', unit: 'ms', figures: times(unchanged) },
      {
        what: 'memory of `headrace push`, at most',
        unit: 'KiB',
        figures: summarize(pushes.map(({ memory }) => memory)),
      },
    ],
    aims: [
      {
        what: 'push, of the time of the raw import as JSON (medians)',
        bound: 'most',
        limit: 1.5,
        value: times(pushes).median / summarize(imports).median,
        unit: '×',
      },
      {
        what: 'push, nothing changed (median)',
        bound: 'most',
        limit: 400,
        value: times(unchanged).median,
        unit: 'ms',
      },
    ],
    notes: [],
  };
}

const signedIn = ({ base, key }: Service) => ({ HEADRACE_URL: base, HEADRACE_KEY: key });

const appId = async (service: Service): Promise<string> => (await newApp(service)).split('/').at(-1)!;
