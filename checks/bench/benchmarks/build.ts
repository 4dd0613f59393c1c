/**
 * What a build takes beyond its command: moving the source into a sandbox, and one output file into the
 * store.
 */
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark, Outcome, Row } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Caller } from '../../harness/http.ts';
import { summarize } from '../../harness/statistics.ts';

const SIZES = [100, 1_000, 10_000];
const BYTES_EACH = 3_300;
/** Writes one file, and prints when it began and ended by this machine's clock. */
const COMMAND =
  'echo "began $(date +%s%N)"; mkdir dist; echo built > dist/out.txt; echo "ended $(date +%s%N)"';

/** ms. */
interface Timing {
  total: number;
  accepted: number;
  toCommand: number;
  command: number;
  afterCommand: number;
  overhead: number;
}
const PARTS: [keyof Timing, string][] = [
  ['total', 'POST sent → ready seen'],
  ['overhead', 'the same without the command'],
  ['accepted', 'of that, answered 202'],
  ['toCommand', 'of that, POST sent → command begins'],
  ['afterCommand', 'of that, command ended → ready seen'],
];

export const buildBenchmark: Benchmark = {
  name: 'build',
  title: 'Build overhead',
  async run(setup): Promise<Outcome> {
    const service = await setup.start();
    const rows: Row[] = [];
    for (const size of SIZES) {
      setup.say(`${size} files`);
      const { app, sourceId } = await newAppWith(service, makeFiles(size, size * BYTES_EACH));
      const thread = await newReadyThread(service, app, sourceId);
      const timings: Timing[] = [];
      for (let i = -2; i < (setup.quick ? 2 : size === 10_000 ? 15 : 25); i++) {
        const timing = await build(service, app, thread);
        if (i >= 0) timings.push(timing);
      }
      for (const [part, what] of PARTS)
        rows.push({
          what: `${size} files: ${what}`,
          unit: 'ms',
          figures: summarize(timings.map((timing) => timing[part])),
        });
    }
    return {
      rows,
      aims: [],
      notes: [
        'The command writes one small file and reports when it began and ended; the version is the same each time. GET build?waitSeconds=30, sent when the build was accepted, observes the end; manifest and log are checked. Before the command: admission, and the source into a separate sandbox. After it: the output is read, packed, hashed and stored, the sandbox ended and removed.',
      ],
    };
  },
};

async function build(service: Caller, app: string, thread: string): Promise<Timing> {
  const [from, wallFrom] = [performance.now(), Date.now()];
  const sent = await service.call('POST', `${thread}/builds`, { command: COMMAND, outputDirectory: 'dist' });
  const accepted = performance.now() - from;
  const at = `${app}/builds/${sent.body.build.id as string}`;
  const { build: ended } = (await service.call('GET', `${at}?waitSeconds=30`)).body;
  const total = performance.now() - from;
  if (ended.status !== 'ready')
    throw new Error(`The build ended ${String(ended.status)}: ${JSON.stringify(ended.error)}`);
  const { files } = (await service.call('GET', `${at}/manifest`)).body.manifest as {
    files: { path: string; byteSize: number }[];
  };
  if (files.length !== 1 || files[0]!.path !== 'out.txt' || files[0]!.byteSize !== 'built\n'.length)
    throw new Error(`The artifact holds ${JSON.stringify(files)}`);
  const { text } = (await service.call('GET', `${at}/logs`)).body.logs as { text: string };
  const told = (word: string) => Number(new RegExp(`^${word} (\\d+)$`, 'm').exec(text)![1]) / 1e6 - wallFrom;
  const [began, finished] = [told('began'), told('ended')];
  return {
    total,
    accepted,
    toCommand: began,
    command: finished - began,
    afterCommand: total - finished,
    overhead: total - (finished - began),
  };
}
