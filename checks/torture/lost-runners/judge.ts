import type { Caller } from '../../harness/http.ts';

interface Run {
  id: string;
  path: string;
  /** When its command was seen at work. */
  at: number;
}

export interface Kill {
  at: number;
  /** For how long before that no worker was there. */
  awayMs: number;
  /** The run of each thread. */
  runs: Run[];
}

interface Thread {
  app: string;
  thread: string;
  /** The last run, which completes. */
  run: { status: string; resultSourceId: string | null };
  kills: { at: number; awayMs: number; run: Run }[];
  /** Where the thread began. */
  sourceId: string;
  /** How much work may be missing. */
  limitMs: number;
}

interface Judged {
  /** Of each run that was killed: how much of its work is missing. */
  lostMs: number[];
  failures: string[];
}

export async function judgeThread(caller: Caller, of: Thread): Promise<Judged> {
  const { app, thread, run, kills, limitMs } = of;
  if (run.status !== 'completed')
    return { lostMs: [], failures: [`${thread}: the last run is ${run.status}`] };
  const { file } = (await caller.call('GET', `${app}/sources/${run.resultSourceId!}/file?path=work.txt`))
    .body;
  const times = (file.content as string).split('\n').filter(Boolean).map(Number);
  const failures = times.flatMap((time, i) =>
    i > 0 && times[i - 1]! > time ? [`${thread}: the line ${time} comes after a later one`] : [],
  );
  // Its work is what it did from its own beginning on.
  const lostMs = kills.map(
    ({ at, run: { at: from } }) => at - Math.max(from, times.findLast((time) => time <= at) ?? 0),
  );
  for (const [i, lost] of lostMs.entries())
    if (lost > limitMs + kills[i]!.awayMs)
      failures.push(
        `${kills[i]!.run.path}: ${lost} ms of work are missing, of ${kills[i]!.at - kills[i]!.run.at}`,
      );
  failures.push(...(await judgeRecoveries(caller, of)));
  return { lostMs, failures };
}

/** Each lost run has at most one recovery, and no result; the completed one has one parent, the thread's beginning. */
async function judgeRecoveries(
  caller: Caller,
  { app, thread, run, kills, sourceId }: Thread,
): Promise<string[]> {
  const failures: string[] = [];
  const { checkpoints } = (await caller.call('GET', `${thread}/checkpoints?limit=100`)).body;
  for (const { run: one } of kills) {
    const found = (await caller.call('GET', one.path)).body.run;
    if (found.status !== 'failed' || found.resultSourceId !== null)
      failures.push(`${one.path} is ${found.status} with the result ${found.resultSourceId}`);
    const kept = (checkpoints as { runId: string; kind: string }[]).filter(({ runId }) => runId === one.id);
    if (kept.length > 1 || kept.some(({ kind }) => kind !== 'recovery'))
      failures.push(`${one.path} has ${kept.map(({ kind }) => kind).join(', ')}`);
  }
  const { source } = (await caller.call('GET', `${app}/sources/${run.resultSourceId!}`)).body;
  if (JSON.stringify(source.parentSourceIds) !== JSON.stringify([sourceId]))
    failures.push(`${thread}: the result has the parents ${source.parentSourceIds.join(', ')}`);
  return failures;
}

/** The log has one end of each run. */
export async function endsOf(caller: Caller, app: string, wanted: number): Promise<string[]> {
  const ends: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await caller.call(
      'GET',
      `${app}/events?limit=500&types=run.completed,run.failed,run.cancelled${cursor && `&cursor=${cursor}`}`,
    );
    for (const { runId } of body.events as { runId: string }[]) ends.push(runId);
    if (!body.hasMore) break;
    cursor = encodeURIComponent(body.nextCursor as string);
  }
  return ends.length === wanted && new Set(ends).size === wanted
    ? []
    : [`the log has ${ends.length} ends of ${new Set(ends).size} runs, not ${wanted}`];
}
