/** All Pods of a release are replaced while callers ask its API and runs work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { newReadyThread } from '../../harness/apps.ts';
import type { Caller } from '../../harness/http.ts';
import { begin } from '../../torture/lost-runners/runs.ts';
import type { Ended } from '../../torture/lost-runners/runs.ts';
import { COUNTS } from './live.ts';
import type { Live } from './live.ts';
import { startLoad } from './load.ts';
import type { Outcome } from './load.ts';
import { until } from './processes.ts';
import { requireNoRestarts } from './release.ts';

const RUNS = 3;
/** Longer than a silent journal is waited for, three times. */
const WORK_SECONDS = 90;
const REPLACED_MS = 6 * 60_000;
/** The last Pod is told to end before its callers are. */
const AFTER_MS = 8_000;

const never = new AbortController().signal;

export async function upgradeUnderLoad(
  { release }: Live,
  { app, sourceId }: { app: string; sourceId: string },
): Promise<string> {
  const { caller } = release;
  const was = new Set(
    Object.values(await release.ready(COUNTS))
      .flat()
      .map(({ metadata }) => metadata.uid),
  );
  const threads = await Promise.all(
    Array.from({ length: RUNS }, () => newReadyThread(caller, app, sourceId)),
  );
  const load = startLoad(release.base(), app, release.key);
  const content = `\`\`\`sh\nfor i in $(seq ${WORK_SECONDS}); do echo $i >> work.txt; sleep 1; done\n\`\`\``;
  const runs = await Promise.all(threads.map((thread) => begin(caller, thread, never, content)));
  const from = performance.now();
  await release.upgrade('env.HEADRACE_LOG_LEVEL=info', 'runner.drainSeconds=121');
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  const { ends, broken } = await endsOf(caller, runs);
  await until(
    'the former Pods are gone',
    async () => {
      const now = Object.values(await release.ready(COUNTS)).flat();
      requireNoRestarts(now);
      return now.every(({ metadata }) => !was.has(metadata.uid));
    },
    REPLACED_MS,
  );
  await sleep(AFTER_MS);
  const { kept, fresh } = await load.end();
  const failures = [...kept.failures, ...fresh.failures, ...broken];
  const lost = ends.filter(({ status }) => status !== 'completed');
  for (const { resultSourceId } of ends.filter(({ status }) => status === 'completed')) {
    const { file } = (await caller.call('GET', `${app}/sources/${resultSourceId!}/file?path=work.txt`)).body;
    if ((file.content as string).split('\n').length !== WORK_SECONDS + 1)
      failures.push('a file is cut short');
  }
  const text = [
    `Helm took ${seconds} s`,
    textOf('kept', kept),
    textOf('new', fresh),
    `${broken.length} long polls broken`,
    `${lost.length} of ${ends.length} runs lost`,
  ].join('; ');
  if (failures.length > 0 || lost.length > 0)
    throw new Error(
      `${text}: ${[...failures.slice(0, 20), ...lost.map(({ error }) => error?.code)].join(', ')}`,
    );
  return text;
}

const textOf = (kind: string, { requests, failures, p50Ms, maxMs }: Outcome) =>
  `${requests} requests over ${kind} connections, ${failures.length} failed, p50 ${p50Ms} ms, most ${maxMs} ms`;

/** By long polls. One that gets no answer is counted, and asked again. */
async function endsOf(
  caller: Caller,
  runs: { path: string }[],
): Promise<{ ends: Ended[]; broken: string[] }> {
  const broken: string[] = [];
  const endOf = async (path: string): Promise<Ended | undefined> => {
    try {
      const { run } = (await caller.call('GET', `${path}?waitSeconds=20`)).body;
      return run.finishedAt === null ? undefined : (run as Ended);
    } catch (error) {
      broken.push((error as Error).message);
      return undefined;
    }
  };
  const ends = await Promise.all(
    runs.map(({ path }) => until(`${path} ends`, () => endOf(path), REPLACED_MS)),
  );
  return { ends, broken };
}
