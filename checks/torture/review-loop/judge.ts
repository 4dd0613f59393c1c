/** Checks in rows, repositories and providers that each pass, reply and merge happened once. */
import type pg from 'pg';
import { git } from '../scm/world.ts';
import type { World } from '../scm/world.ts';
import { fixesOf, INSTRUCTIONS } from './people.ts';
import type { Reviewed } from './people.ts';

export interface Verdict {
  passes: number;
  updates: number;
  replies: number;
  merges: number;
  failures: string[];
}

interface PassRow {
  id: string;
  kind: 'message' | 'update';
  message_id: string | null;
  settled: boolean;
  runs: { id: string; status: string; error: string | null; changed: boolean }[];
}

const LOST = ['sandbox_lost', 'worker_lost', 'host_lost', 'workspace_unavailable', 'model_error'];

export async function judge(world: World, table: pg.Client, all: readonly Reviewed[]): Promise<Verdict> {
  const verdict: Verdict = { passes: 0, updates: 0, replies: 0, merges: 0, failures: [] };
  for (const one of all) {
    const passes = await passesOf(table, one);
    await judgePasses(table, { one, passes }, verdict);
    await judgeBranch(one, passes, verdict);
    await judgeReplies(table, one, verdict);
    await judgeMerge(table, one, verdict);
    await judgeVersions(table, one, verdict);
  }
  return verdict;
}

async function passesOf(table: pg.Client, { id }: Reviewed): Promise<PassRow[]> {
  const { rows } = await table.query<PassRow>(
    `select p.id, p.kind, p.message_id, p.settled_at is not null as settled,
       coalesce((select json_agg(json_build_object('id', r.id, 'status', r.status, 'error', r.error_code,
         'changed', r.result_source_id is not null and r.result_source_id is distinct from r.base_source_id) order by r.id)
         from runs r where r.message_id = p.message_id), '[]') as runs
     from review_passes p join review_loops l on l.id = p.loop_id where l.pull_request_id = $1 order by p.id`,
    [id],
  );
  return rows;
}

/** Each pass has one message, and each message has one run that was not lost. */
async function judgePasses(
  table: pg.Client,
  { one, passes }: { one: Reviewed; passes: PassRow[] },
  verdict: Verdict,
): Promise<void> {
  const { rows } = await table.query<{ id: string }>(
    "select id from messages where thread_id = $1 and role = 'system' and starts_with(content, $2) order by id",
    [one.thread.id, INSTRUCTIONS],
  );
  const told = passes.filter(({ kind }) => kind === 'message');
  verdict.passes += told.length;
  verdict.updates += passes.length - told.length;
  const sorted = told.map(({ message_id: id }) => id).toSorted();
  if (JSON.stringify(rows.map(({ id }) => id)) !== JSON.stringify(sorted))
    verdict.failures.push(`${one.id}: ${rows.length} messages of passes, ${told.length} passes`);
  for (const { id, runs, settled } of told) {
    const counting = runs.filter(({ error }) => error === null || !LOST.includes(error));
    if (counting.length > 1 || runs.length === 0 || runs.some(({ status }) => isOpen(status)) || !settled)
      verdict.failures.push(
        `${one.id}: pass ${id}, settled ${settled}, has the runs ${JSON.stringify(runs)}`,
      );
  }
}

const isOpen = (status: string) => ['queued', 'running', 'waiting'].includes(status);

/** Each run with a change has one commit and one line in its file. No untrusted text was executed. */
async function judgeBranch(one: Reviewed, passes: readonly PassRow[], verdict: Verdict): Promise<void> {
  const { dir } = one.thread.repository;
  const head = `refs/pull/${one.number}/head`;
  const trailers = await git(dir, 'log', '--format=%(trailers:key=Headrace-Run,valueonly)', head);
  const runs = trailers.split(/\s+/).filter(Boolean);
  const twice = runs.filter((id, at) => runs.indexOf(id) !== at);
  if (twice.length) verdict.failures.push(`${one.id}: in several commits: ${twice.join(', ')}`);
  const changed = passes
    .filter(({ kind }) => kind === 'message')
    .flatMap((pass) => pass.runs.filter((run) => run.status === 'completed' && run.changed));
  const missing = changed.filter(({ id }) => !runs.includes(id));
  if (missing.length)
    verdict.failures.push(`${one.id}: in no commit: ${missing.map(({ id }) => id).join(', ')}`);
  const files = (await git(dir, 'ls-tree', '-r', '--name-only', head)).split('\n');
  if (files.includes('broken-out.txt')) verdict.failures.push(`${one.id}: a log was executed`);
  const fixes = fixesOf(one.thread);
  const lines = files.includes(fixes) ? (await git(dir, 'show', `${head}:${fixes}`)).split('\n').length : 0;
  if (lines !== changed.length)
    verdict.failures.push(`${one.id}: ${fixes} has ${lines} lines of ${changed.length} passes with a change`);
}

/** Each pass with a change has one reply in each review thread that it quotes. */
async function judgeReplies(table: pg.Client, one: Reviewed, verdict: Verdict): Promise<void> {
  const { rows } = await table.query<{ thread: string; sha: string | null; replied: boolean; due: boolean }>(
    `select p.review_thread_id as thread, p.reply_sha as sha, p.replied_at is not null as replied,
       exists (select from runs r where r.message_id = s.message_id and r.status = 'completed'
         and r.result_source_id is not null and r.result_source_id is distinct from r.base_source_id) as due
     from review_points p join review_passes s on s.id = p.pass_id join review_loops l on l.id = p.loop_id where l.pull_request_id = $1`,
    [one.id],
  );
  for (const { thread, sha, replied, due } of rows)
    if (due && (sha === null || !replied))
      verdict.failures.push(`${one.id}: no reply in ${thread}; it should name ${sha}`);
  for (const { id, replies } of await one.side.threads(one.number)) {
    const due = rows
      .filter(({ thread, sha }) => thread === id && sha !== null)
      .map(({ sha }) => `Addressed in ${sha}.`);
    verdict.replies += replies.length;
    if (JSON.stringify(replies.toSorted()) !== JSON.stringify(due.toSorted()))
      verdict.failures.push(
        `${one.id}: ${id} has the replies ${replies.join(' ')}, due were ${due.join(' ')}`,
      );
  }
}

/** Only pull requests with `autoMerge` have a merge commit on the base, and exactly one. */
async function judgeMerge(table: pg.Client, one: Reviewed, verdict: Verdict): Promise<void> {
  const { rows } = await table.query<{
    state: string;
    head: string;
    merged: string | null;
    status: string;
    by: string | null;
  }>(
    'select p.state, p.head_sha as head, p.merge_commit_sha as merged, l.status, l.disabled_by as by from pull_requests p join review_loops l on l.pull_request_id = p.id where p.id = $1',
    [one.id],
  );
  const [now] = rows;
  const log = await git(
    one.thread.repository.dir,
    'log',
    '--first-parent',
    '--format=%H %P',
    'refs/heads/main',
  );
  const merges = log
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , second]) => second === now!.head);
  verdict.merges += merges.length;
  const is = { state: now!.state, loop: [now!.status, now!.by], merges: merges.map(([commit]) => commit) };
  const has = one.autoMerge
    ? { state: 'merged', loop: ['disabled', 'system'], merges: [now!.merged] }
    : { state: 'open', loop: ['ready', null], merges: [] };
  if (JSON.stringify(is) !== JSON.stringify(has))
    verdict.failures.push(
      `${one.id}, ${one.headRef}: it is ${JSON.stringify(is)}, and should be ${JSON.stringify(has)}; its head is ${now!.head}`,
    );
}

/** Each event has a version. */
async function judgeVersions(table: pg.Client, one: Reviewed, verdict: Verdict): Promise<void> {
  const { rows } = await table.query<{ version: number; events: number }>(
    `select version::int as version, (select count(*)::int from events where type = 'pull_request.updated' and data->>'id' = $1) +
       (select count(*)::int from outbox where type = 'pull_request.updated' and data->>'id' = $1) as events from pull_requests where id = $1`,
    [one.id],
  );
  const { version, events } = rows[0]!;
  if (version !== events) verdict.failures.push(`${one.id}: version ${version}, ${events} events`);
}
