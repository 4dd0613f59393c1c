/**
 * What it costs to mask secrets: the log of a build with and without secrets, in turns, and the masking alone
 * over texts of different kinds.
 */
import { Readable } from 'node:stream';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Caller } from '../../harness/http.ts';
import { summarize } from '../../harness/statistics.ts';
import { formsOf } from '../../../packages/runner/src/masking/forms.ts';
import { Mask } from '../../../packages/runner/src/masking/mask.ts';
import { Needles } from '../../../packages/runner/src/masking/needles.ts';
import { Journal } from '../../../packages/runner/src/tasks/journal.ts';
import { journalOutput } from '../../../packages/runner/src/tasks/output.ts';
import type { Benchmark, Outcome, Row } from '../lib/benchmark.ts';

const MEBI = 1024 ** 2;
/** Just below the most that the log of a build keeps. */
const LOG_BYTES = 1.9 * MEBI;
/** A pipe's. */
const PIECE = 64 * 1024;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const WORDS = [
  'src/components/',
  'Button',
  '.tsx',
  ' built in ',
  ' ms',
  'warning: ',
  'unused variable ',
  'PASS ',
  'node_modules/',
  '@scope/package',
  '/dist/index.js',
  ' 12.4 kB',
];
const nextOf = (state: number): number => (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;

/** Lines as compilers and test runners print them. */
function logText(): string {
  let text = '';
  for (let state = 1, i = 1; text.length < LOG_BYTES; i++) {
    state = nextOf(state);
    text += `${WORDS[(state >> 12) % WORDS.length]}${state % 1000}${i % 6 === 0 ? '\n' : ''}`;
  }
  return text;
}

/** The same at each run, and like nothing in a log. */
const secretOf = (length: number, seed: number): string => {
  let state = seed * 7919 + 17;
  return Array.from({ length }, () => {
    state = nextOf(state);
    return ALPHABET[(state >> 12) % ALPHABET.length];
  }).join('');
};
const TEN = Array.from({ length: 10 }, (_, i) => secretOf(40, i));
const MOST = Array.from({ length: 2 }, (_, i) => secretOf(32_000, i));
const SETS: [string, string[]][] = [
  ['no secrets', []],
  ['10 secrets of 40 characters', TEN],
  ['64 KiB of secrets', MOST],
];

export const environmentBenchmark: Benchmark = {
  name: 'environment',
  title: 'Masking of secrets',
  async run(setup): Promise<Outcome> {
    const samples = setup.quick ? 3 : 30;
    const rows: Row[] = [...maskingAlone(samples), ...(await journalled(samples))];
    const service = await setup.start();
    const plain = await appOf(service, { secret: false });
    const masked = await appOf(service, { secret: true });
    const timings = { plain: [] as number[], masked: [] as number[] };
    for (let i = -2; i < 2 * samples; i++)
      for (const [name, thread] of i % 2 === 0
        ? ([
            ['plain', plain],
            ['masked', masked],
          ] as const)
        : ([
            ['masked', masked],
            ['plain', plain],
          ] as const)) {
        const took = await buildTime(service, thread);
        if (i >= 0) timings[name].push(took);
      }
    const [without, withTen] = [summarize(timings.plain), summarize(timings.masked)];
    rows.push(
      { what: 'a build that logs 1.9 MiB, 10 variables', unit: 'ms', figures: without },
      { what: 'the same, the variables are secrets, in turns', unit: 'ms', figures: withTen },
    );
    return {
      rows,
      aims: [
        {
          what: 'the build with secrets, of the other, median',
          bound: 'most',
          limit: 1.05,
          value: withTen.median / without.median,
          unit: '×',
        },
      ],
      notes: [
        'Builds: POST sent → ready seen by GET build?waitSeconds=30, and the whole log checked. The part of the runner: from pipes of 64 KiB into a journal. Masking alone: the text of such a log, in pieces of 64 KiB; near misses are a secret without its last character, again and again.',
      ],
    };
  },
};

interface Target {
  app: string;
  thread: string;
}

/** The same variables either way, so that the difference is the masking. */
async function appOf(service: Caller, { secret }: { secret: boolean }): Promise<Target> {
  const { app, sourceId } = await newAppWith(service, [{ path: 'log.txt', content: logText() }]);
  for (const [i, value] of TEN.entries())
    await service.call('PUT', `${app}/environment/SECRET_${i}`, { value, secret });
  return { app, thread: await newReadyThread(service, app, sourceId) };
}

async function buildTime(service: Caller, { app, thread }: Target): Promise<number> {
  const begun = performance.now();
  const sent = await service.call('POST', `${thread}/builds`, {
    command: 'mkdir out; cat log.txt; echo > out/a',
    outputDirectory: 'out',
  });
  const at = `${app}/builds/${sent.body.build.id as string}`;
  const { build } = (await service.call('GET', `${at}?waitSeconds=30`)).body;
  const took = performance.now() - begun;
  if (build.status !== 'ready') throw new Error(`The build ended ${String(build.status)}`);
  const { byteSize } = (await service.call('GET', `${at}/logs`)).body.logs as { byteSize: number };
  if (byteSize < LOG_BYTES) throw new Error(`The log has ${byteSize} bytes.`);
  return took;
}

function maskingAlone(samples: number): Row[] {
  const log = logText();
  const texts: [string, string, string[]][] = [
    ...SETS.slice(1).map(([name, secrets]): [string, string, string[]] => [`a log, ${name}`, log, secrets]),
    ['near misses of a secret', `${TEN[0]!.slice(0, -1)}#`.repeat(Math.round(LOG_BYTES / 40)), TEN],
    ['nothing but secrets', `${TEN[0]!}\n`.repeat(Math.round(LOG_BYTES / 41)), TEN],
  ];
  // Not by a Mask, which makes this once for all tasks with these secrets.
  const rows: Row[] = SETS.slice(1).map(([name, secrets]) => ({
    what: `prepared for ${name}`,
    unit: 'ms',
    figures: summarize(Array.from({ length: samples }, () => timed(() => new Needles(formsOf(secrets))))),
  }));
  for (const [name, text, secrets] of texts) {
    const mask = new Mask(secrets);
    const once = (): number =>
      timed(() => {
        const stream = mask.stream();
        for (let at = 0; at < text.length; at += PIECE) stream.push(text.slice(at, at + PIECE));
        stream.end();
      });
    once();
    const speeds = Array.from({ length: samples }, () => text.length / MEBI / (once() / 1000));
    rows.push({ what: `masking ${name}`, unit: 'MiB/s', figures: summarize(speeds) });
  }
  return rows;
}

/** What the runner does with the output of a command, in turns. */
async function journalled(samples: number): Promise<Row[]> {
  const log = Buffer.from(logText());
  const pieces = Array.from({ length: Math.ceil(log.length / PIECE) }, (_, i) =>
    log.subarray(i * PIECE, (i + 1) * PIECE),
  );
  const masks = SETS.map(([name, secrets]) => ({ name, mask: new Mask(secrets), times: [] as number[] }));
  for (let i = -2; i < samples; i++)
    for (const { mask, times } of masks) {
      const begun = performance.now();
      await journalOutput(new Journal(), mask, {
        stdout: Readable.from(pieces, { objectMode: false }),
        stderr: Readable.from([]),
      });
      if (i >= 0) times.push(performance.now() - begun);
    }
  return masks.map(({ name, times }) => ({
    what: `a log of 1.9 MiB into a journal, ${name}`,
    unit: 'ms',
    figures: summarize(times),
  }));
}

function timed(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
