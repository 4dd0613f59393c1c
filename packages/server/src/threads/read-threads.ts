/**
 * Threads as their responses show them, with their runs, open questions, task and pull requests: one statement, so that a response
 * is one moment and its parts never contradict each other. Its cost does not depend on how many runs a thread
 * had. PostgreSQL answers in JSON: pg takes twice as long to read a row of 40 columns.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';
import type { RunRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { seesProject } from '../http/principal.ts';
import { listedFrom, listedOf } from '../pull-requests/index.ts';
import type { ListedJson } from '../pull-requests/index.ts';
import { taskOf } from '../tasks/index.ts';
import type { TaskJson } from '../tasks/index.ts';
import type { Asked } from './policy.ts';

const TIMES = [
  'archived_at',
  'initialization_updated_at',
  'created_at',
  'updated_at',
  'latest_user_message_at',
  'stop_requested_at',
  'sealed_at',
] as const satisfies (keyof ThreadRow)[];

/** What a response shows of a thread's own row. */
const COLUMNS = [
  ...TIMES,
  'id',
  'project_id',
  'source_id',
  'latest_source_id',
  'model_id',
  'title',
  'status',
  'initialization_state',
  'initialization_phase',
  'initialization_attempt_count',
  'initialization_error_code',
  'initialization_error_message',
  'active_apply_id',
  'active_build_id',
  'tracker_issue_url',
  'spend_limit_micros',
  'version',
  'title_version',
  'archive_version',
  'workspace_status',
  'workspace_setup_status',
  'setup_id',
  'error_tracker_issue',
  'created_by',
  'participant_user_ids',
  'execution_target',
  'base_branch',
  'base_commit_sha',
  'metadata',
  'automation_id',
  'forked_from',
] as const satisfies (keyof ThreadRow)[];

type ThreadFields = Pick<ThreadRow, (typeof COLUMNS)[number]>;
type RunFields = Pick<
  RunRow,
  'id' | 'status' | 'steerable' | 'started_at' | 'active_since' | 'active_duration_ms'
>;

interface Work {
  /** The active run, else the oldest queued, else the last ended. */
  run: RunFields | null;
  queuedRuns: number;
  /** Whether a bound holds back its queued run or its build. */
  isHeld: boolean;
  pendingApprovals: string[];
}

/** A thread with the data of its response about its run, its open questions and its task. */
export interface ThreadDetails extends Work {
  thread: ThreadFields;
  task: TaskJson;
  /** The host of its execution target, while that is offline. */
  awayHost: string | null;
  /** Newest first. */
  pullRequests: ReturnType<typeof listedFrom>;
}

interface Row {
  thread: string;
}

const FIELDS = `${COLUMNS.map((name) => `t.${name}`).join(', ')}, thread_work(t.id, t.status) as work, case when t.active_build_id is not null then is_build_held(t.active_build_id) end as is_build_held, case when t.execution_target is not null then away_host(t.execution_target) end as away_host, ${listedOf('t.id')} as pull_requests, ${taskOf('t')} as task`;
/** `from` provides the rows `t`. */
const select = (from: string) =>
  `select row_to_json(one)::text as thread from (select ${FIELDS} from ${from}) as one`;

const READ_ONE = prepared<Row>(
  'read_thread',
  select(`threads t join projects p on p.id = t.project_id
    where t.id = $1 and t.org_id = $2 and t.deleted_at is null and p.deleted_at is null
      and ($3::text is null or (p.id = $3 and (not $4 or p.kind = 'platform')))`),
);
const READ_BY_ID = prepared<Row>('read_thread_by_id', select('threads t where t.id = $1'));

function detailsOf({ thread: text }: Row): ThreadDetails {
  const {
    work,
    is_build_held: isBuildHeld,
    away_host: awayHost,
    pull_requests: pullRequests,
    task,
    ...thread
  } = JSON.parse(text) as ThreadFields & {
    work: Work;
    is_build_held: boolean | null;
    away_host: string | null;
    pull_requests: ListedJson;
    task: TaskJson;
  };
  revive(thread, TIMES);
  if (work.run) revive(work.run, ['started_at', 'active_since']);
  return {
    thread,
    ...work,
    isHeld: work.isHeld || isBuildHeld === true,
    awayHost,
    task,
    pullRequests: listedFrom(pullRequests),
  };
}

/** Makes dates of the times that JSON carries as text. */
function revive<Key extends string>(row: { [K in Key]: Date | null }, times: readonly Key[]): void {
  for (const name of times) if (row[name] !== null) row[name] = new Date(row[name]);
}

/** The thread that the path names; undefined where the caller does not see it. */
export async function readThread(
  db: Db,
  { principal, api, params }: Asked,
): Promise<ThreadDetails | undefined> {
  const { rows } = await db.executeQuery(
    READ_ONE([params.threadId, principal.orgId, params.appId ?? null, api === 'platform']),
  );
  const found = rows[0] && detailsOf(rows[0]);
  return found && seesProject(principal, found.thread.project_id) ? found : undefined;
}

/** The thread of this id, as this transaction sees it. */
export async function readThreadById(db: Db | Tx['db'], threadId: string): Promise<ThreadDetails> {
  const { rows } = await db.executeQuery(READ_BY_ID([threadId]));
  return detailsOf(rows[0]!);
}

/** The threads with the ids that `page` selects, newest first, or by latest activity. */
export async function readThreads(
  db: Db,
  page: RawBuilder<{ id: string }>,
  byActivity = false,
): Promise<ThreadDetails[]> {
  const { rows } = await sql<Row>`
    select row_to_json(one)::text as thread from (
      select ${sql.raw(FIELDS)} from (${page}) as page join threads t on t.id = page.id
    ) as one order by ${byActivity ? sql`one.updated_at desc, ` : sql``}one.id desc`.execute(db);
  return rows.map(detailsOf);
}
