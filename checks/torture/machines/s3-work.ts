/** Imports, runs, builds and reads of one app: each answered for good, each result compared with what was sent. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PLATFORM } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import type { Random } from '../../harness/random.ts';
import { deliver } from '../lib/delivery.ts';
import type { Weather } from '../lib/delivery.ts';

const SETTLE_LIMIT_MS = 300_000;

export interface Tally {
  imports: number;
  runs: number;
  builds: number;
  reads: number;
  /** Reads that were answered 503, or whose answers broke: noticed, and sent again. */
  readsAgain: number;
  /** Runs and builds that ended otherwise than well, by how. */
  ended: Map<string, number>;
  failures: string[];
}

export const newTally = (): Tally => ({
  imports: 0,
  runs: 0,
  builds: 0,
  reads: 0,
  readsAgain: 0,
  ended: new Map(),
  failures: [],
});

export interface Work {
  caller: Caller;
  random: Random;
  weather: Weather;
  tally: Tally;
  signal: AbortSignal;
}

type Files = Map<string, string>;

export async function workOn(work: Work, name: string, rounds: number): Promise<void> {
  const { app } = await written(work, `${PLATFORM}/apps`, { name });
  const path = `${PLATFORM}/apps/${(app as { id: string }).id}`;
  let thread: string | null = null;
  for (let round = 0; round < rounds; round++) {
    work.signal.throwIfAborted();
    const files = filesOf(work.random);
    const { source } = (await written(work, `${path}/sources`, {
      files: [...files].map(([at, content]) => ({ path: at, content })),
    })) as { source: { id: string } };
    work.tally.imports++;
    await readFiles(work, `${path}/sources/${source.id}`, files);
    if (thread === null) {
      await written(work, `${path}/source-head/initialize`, { sourceId: source.id });
      const made = (await written(work, `${path}/threads`, { sourceId: source.id })) as {
        thread: { id: string };
      };
      thread = `${path}/threads/${made.thread.id}`;
    }
    await run(work, path, thread);
    await build(work, path, thread);
  }
}

/** A write that is sent until it is answered. */
async function written(work: Work, path: string, body: object): Promise<Record<string, unknown>> {
  const key = `key-${work.random.below(1e9)}-${work.random.below(1e9)}`;
  const answer = await deliver([work.caller], { method: 'POST', path, body, key }, work);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return JSON.parse(answer.text) as Record<string, unknown>;
}

/** A few small ones, and one whose bytes do not compress. */
function filesOf(random: Random): Files {
  const files: Files = new Map();
  for (let n = 0; n < 5 + random.below(20); n++) files.set(`src/file-${n}.ts`, textOf(random, 2_000));
  files.set('large.txt', textOf(random, 100_000 + random.below(400_000)));
  return files;
}

function textOf(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += `${random.below(2 ** 31).toString(36)}\n`;
  return text;
}

async function readFiles(work: Work, source: string, files: Files): Promise<void> {
  const names = [...files.keys()];
  for (const name of ['large.txt', names[work.random.below(names.length)]!]) {
    if ((await contentOf(work, source, name)) !== files.get(name))
      work.tally.failures.push(`${source} has another ${name}`);
  }
}

async function contentOf(work: Work, source: string, path: string): Promise<string> {
  const bytes = await read(work, `${source}/file?path=${encodeURIComponent(path)}`);
  return (JSON.parse(bytes.toString()) as { file: { content: string } }).file.content;
}

/** Sent until it is answered whole. Throws on an answer that is neither 200 nor 503. */
async function read({ caller, tally, signal }: Work, path: string): Promise<Buffer> {
  for (const deadline = Date.now() + SETTLE_LIMIT_MS; Date.now() < deadline;) {
    try {
      const response = await caller.open(path, { headers: { accept: '*/*' }, signal });
      const length = response.headers['content-length'];
      const bytes = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
      if (length !== undefined && bytes.length !== Number(length))
        tally.failures.push(`${path} ended after ${bytes.length} of ${length} bytes`);
      tally.reads++;
      return bytes;
    } catch (error) {
      signal.throwIfAborted();
      if (!/: 503$|aborted|socket hang up|ECONNRESET/.test((error as Error).message)) throw error;
      tally.readsAgain++;
      await sleep(200, undefined, { signal });
    }
  }
  throw new Error(`GET ${path} was not answered within ${SETTLE_LIMIT_MS / 1000} s`);
}

/** The state of what ends by itself, once it has ended. */
async function ended<T extends { status: string }>(work: Work, path: string, name: string): Promise<T> {
  for (const deadline = Date.now() + SETTLE_LIMIT_MS; Date.now() < deadline;) {
    const body = JSON.parse((await read(work, `${path}?waitSeconds=10`)).toString()) as Record<string, T>;
    if (!['queued', 'running', 'waiting', 'building'].includes(body[name]!.status)) return body[name]!;
  }
  throw new Error(`${path} did not end within ${SETTLE_LIMIT_MS / 1000} s`);
}

const count = ({ ended: all }: Tally, how: string) => all.set(how, (all.get(how) ?? 0) + 1);

async function run(work: Work, app: string, thread: string): Promise<void> {
  const text = textOf(work.random, 1_000).replaceAll('\n', ' ');
  const sent = (await written(work, `${thread}/messages`, {
    content: `\`\`\`sh\necho '${text}' > written.txt\n\`\`\``,
  })) as { run: { id: string } };
  const at = `${thread}/runs/${sent.run.id}`;
  const state = await ended<{ status: string; error: unknown; resultSourceId: string }>(work, at, 'run');
  work.tally.runs++;
  if (state.status !== 'completed') {
    count(work.tally, `run ${state.status} ${JSON.stringify(state.error)}`);
    return;
  }
  if ((await contentOf(work, `${app}/sources/${state.resultSourceId}`, 'written.txt')) !== `${text}\n`)
    work.tally.failures.push(`${at} has written something else`);
}

async function build(work: Work, app: string, thread: string): Promise<void> {
  const sent = (await written(work, `${thread}/builds`, {
    command: 'mkdir dist && head -c 300000 /dev/urandom > dist/random.bin',
    outputDirectory: 'dist',
  })) as { build: { id: string } };
  const at = `${app}/builds/${sent.build.id}`;
  const state = await ended<{ status: string; error: unknown; artifactSha256: string }>(work, at, 'build');
  work.tally.builds++;
  if (state.status !== 'ready') {
    count(work.tally, `build ${state.status} ${JSON.stringify(state.error)}`);
    return;
  }
  const found = createHash('sha256')
    .update(await read(work, `${at}/artifact`))
    .digest('hex');
  if (found !== state.artifactSha256) work.tally.failures.push(`${at} gives another artifact`);
}
