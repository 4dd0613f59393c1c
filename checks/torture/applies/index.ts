/**
 * Applies of several apps at once, queued by clients that send everything twice, while processes and git are
 * killed and workers come back after their work was taken over. At the end the rows, the log and the bytes of
 * every head have to agree with each other and with git.
 *
 * Seen to fail: decisions that hold for one head and are not compared with it again when their turn comes
 * (two of two applied on another one), an apply that moves the head in one transaction and ends in the next
 * one (each head published without its apply). What happens without the last transaction's fence, its look at
 * the thread and its comparison of heads is in packages/server/src/applies/crash.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Caller } from '../../harness/http.ts';
import { inLanes } from '../../harness/lanes.ts';
import { newWeather } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import type { Fleet, Member } from '../lib/fleet.ts';
import { openTable, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { ended, queue } from './clients.ts';
import type { Applying } from './clients.ts';
import { judgeContent } from './content.ts';
import type { ContentVerdict } from './content.ts';
import { objectFaults, readEvidence } from './evidence.ts';
import type { Evidence } from './evidence.ts';
import { startFaults } from './faults.ts';
import { judgeRecords, recordsOf } from './records.ts';
import { makeApps } from './world.ts';
import type { Draft, TortureApp } from './world.ts';

const APPS = 8;
const DRAFTS = 64;
/** So that each kind meets another draft of the same kind. */
const LEAST_DRAFTS = 14;
/** Of an app: clients that queue at the same time. */
const CLIENTS = 3;
/** An apply is settled about so long after its job has begun. */
const MERGE_MS = 100;
const MERGES_LIMIT_MS = 1_000;
/** An api answers something between its kills, also on a busy machine: its first answers take it longest. */
const LEAST_UP_MS = 1_500;
const QUIET_LIMIT_MS = 120_000;

export const appliesPart: Part = {
  name: 'applies',
  title:
    'Every apply ends once, on the head that it was merged with, and no change is lost, whatever is killed in the meantime',
  seconds: 200,
  async run(setup) {
    const fleet = await startFleet(setup, { apis: 2, workers: setup.count(3, 2) });
    const table = await openTable(setup, fleet.database.url);
    const total = setup.count(APPS * DRAFTS, 2 * LEAST_DRAFTS);
    const count = Math.max(2, Math.min(APPS, Math.round(total / DRAFTS)));
    const apps = await makeApps(fleet.callers, count, Math.ceil(total / count));
    setup.say(`${apps.length} apps with ${apps[0]!.drafts.length} drafts each are ready`);
    const done = await applyAll(setup, fleet, table, apps);
    await settled(table, setup.signal);
    const evidence = await readEvidence(table);
    const content = await judgeAll(setup, fleet.callers, apps, evidence);
    const failures = [
      ...done.failures,
      ...done.weather.faults,
      ...fleet.deaths,
      ...apps.flatMap((app) => judgeRecords(app, recordsOf(app, evidence))),
      ...content.failures,
      ...(await objectFaults(table, fleet.dataDir)),
    ];
    return { ...summaryOf(apps, done, evidence, content, failures.length), failures };
  },
};

/** All drafts, while things are killed, and those that the moved head refused once more in peace. */
async function applyAll(setup: Setup, fleet: Fleet, table: pg.Client, apps: readonly TortureApp[]) {
  const kills = setup.count(100, 4);
  const applying: Applying = {
    callers: fleet.callers,
    weather: newWeather(),
    signal: setup.signal,
    random: setup.random.fork('clients'),
    failures: [],
    stale: 0,
  };
  const spared = new Set<Member>();
  const storm = startStorm(setup, fleet, {
    total: apps.length * apps[0]!.drafts.length,
    kills,
    moment: () => duringMerges(setup, table),
    isSpared: (member) => spared.has(member) || (member.role === 'api' && member.upFor() < LEAST_UP_MS),
  });
  const faults = startFaults(setup, fleet, table, storm, {
    gits: setup.count(100, 3),
    zombies: setup.count(12),
    spared,
  });
  const from = performance.now();
  await Promise.all(
    apps.map((app) =>
      inLanes(CLIENTS, shuffled(app.drafts, setup), async (draft, n) => {
        await storm.step();
        const id = await queue(applying, draft);
        // Some wait before they queue the next one: the queue is now long, now short.
        if (id !== null && n % 3 === 0) await ended(applying, draft, id);
      }),
    ),
  );
  await Promise.all([storm.over, faults.over]);
  await fleet.allUp();
  const seconds = (performance.now() - from) / 1000;
  await quiet(setup, table);
  await Promise.all(
    apps.map((app) =>
      inLanes(
        1,
        app.drafts.filter((draft) => draft.kind === 'pinned'),
        (draft) => decideAnew(applying, draft),
      ),
    ),
  );
  setup.say(`${kills} kills in ${seconds.toFixed(0)} s; reading all heads`);
  return { ...applying, kills: storm.kills, faults: faults.done, seconds };
}

/** Resolves at any moment of an apply's work; after a second where there is none. */
async function duringMerges({ random, signal }: Setup, table: pg.Client): Promise<void> {
  for (
    const deadline = Date.now() + MERGES_LIMIT_MS;
    Date.now() < deadline;
    await sleep(5, undefined, { signal })
  ) {
    if (
      (await table.query("select from jobs where kind = 'apply.merge' and status = 'active' limit 1"))
        .rowCount
    )
      break;
  }
  await sleep(random.below(MERGE_MS), undefined, { signal });
}

function shuffled(drafts: readonly Draft[], { random: seeded }: Setup): Draft[] {
  const random = seeded.fork(`order of ${drafts.length}`);
  return drafts
    .map((draft) => ({ draft, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ draft }) => draft);
}

/** Resolves when no apply is queued. */
async function quiet({ signal }: Setup, table: pg.Client): Promise<void> {
  for (const deadline = Date.now() + QUIET_LIMIT_MS; ; await sleep(50, undefined, { signal })) {
    const { rows } = await table.query<{ id: string; error: string | null }>(
      "select a.id, j.last_error as error from applies a left join jobs j on j.key = 'apply:' || a.project_id where a.status = 'queued'",
    );
    if (rows.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(
        `After ${QUIET_LIMIT_MS / 1000} s there are still ${rows.length} applies in their queues: ${rows
          .slice(0, 5)
          .map(({ id, error }) => `${id} ${error ?? ''}`)
          .join(', ')}`,
      );
  }
}

/** Nothing else moves the head now: the first decision has to hold. */
async function decideAnew(applying: Applying, draft: Draft): Promise<void> {
  const last = draft.accepted.at(-1);
  if (last !== undefined && (await ended(applying, draft, last)).status === 'applied') return;
  const id = await queue(applying, draft);
  if (id === null)
    applying.failures.push(`${draft.thread}: a decision for the head was refused, though nothing moves it`);
  else await ended(applying, draft, id);
}

async function judgeAll(
  setup: Setup,
  callers: readonly Caller[],
  apps: readonly TortureApp[],
  evidence: Evidence,
): Promise<ContentVerdict> {
  const all: ContentVerdict = { merges: 0, heads: 0, failures: [] };
  await inLanes(2, apps, async (app, n) => {
    const { merges, heads, failures } = await judgeContent(
      setup.scratch,
      callers[n % callers.length]!,
      app,
      recordsOf(app, evidence),
    );
    all.merges += merges;
    all.heads += heads;
    all.failures.push(...failures);
  });
  return all;
}

function summaryOf(
  apps: readonly TortureApp[],
  { weather, kills, faults, stale, seconds }: Awaited<ReturnType<typeof applyAll>>,
  { applies }: Evidence,
  content: ContentVerdict,
  contradictions: number,
): Omit<PartResult, 'failures'> {
  const ids = new Set(apps.flatMap((app) => app.drafts.flatMap((draft) => draft.accepted)));
  const accepted = applies.filter(({ id }) => ids.has(id));
  const withStatus = (status: string) => accepted.filter((apply) => apply.status === status).length;
  const figures = {
    apps: apps.length,
    drafts: apps.length * apps[0]!.drafts.length,
    accepted: ids.size,
    applied: withStatus('applied'),
    conflicted: withStatus('conflicted'),
    failed: withStatus('failed'),
    staleAtAdmission: stale,
    staleLater: accepted.filter((apply) => apply.error?.startsWith('stale_head: ')).length,
    repairs: accepted.reduce((sum, { repairs }) => sum + repairs, 0),
    killedApis: kills.api,
    killedWorkers: kills.worker,
    killedGits: faults.gits,
    zombies: faults.zombies,
    unanswered: weather.unanswered,
    heads: content.heads,
    merges: content.merges,
    contradictions,
    seconds: Math.round(seconds),
  };
  const line =
    `${counted(figures.accepted)} applies of ${counted(figures.drafts)} drafts in ${figures.apps} apps, ${kills.api + kills.worker} kill -9 (${kills.api} api, ${kills.worker} worker), ${figures.killedGits} of git, ${figures.zombies} workers that came back late, ${counted(figures.unanswered)} answers lost: ` +
    `${counted(figures.applied)} applied, ${figures.conflicted} conflicted, ${figures.failed} cancelled, ${figures.repairs} repairs, ${figures.staleAtAdmission + figures.staleLater} stale decisions refused; ${counted(figures.heads)} heads, ${counted(figures.merges)} merges done again by git: ${contradictions} contradictions`;
  return { line, figures };
}
