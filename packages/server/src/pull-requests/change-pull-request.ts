import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { RawBuilder, Updateable } from 'kysely';
import { json } from '../db/schema.ts';
import type { PullRequestRow, PullRequestsTable, ReviewLoopRow, ReviewLoopsTable } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { loopAfter } from './loop-state.ts';
import type { LoopChange } from './loop-state.ts';
import { pushAfter } from './state.ts';
import { insertLoop, insertRow, writeLoop, writeRow } from './store.ts';
import { pullRequestView } from './view.ts';
import type { LoadedPullRequest } from './view.ts';

type Kept = 'id' | 'org_id' | 'project_id' | 'thread_id' | 'repository_id' | 'created_by' | 'created_at';
/** Times that no response shows, or that are no change by themselves: the database's clock may give them. */
type Unseen =
  | 'scm_summary_updated_at'
  | 'reviews_read_at'
  | 'looked_at'
  | 'next_look_at'
  | 'push_retry_at'
  | 'transferred_at';

/** Columns as their rows have them. */
export type PullRequestChange = Partial<Omit<PullRequestRow, Kept | Unseen | 'version' | 'updated_at'>> &
  Partial<Record<Unseen, Date | RawBuilder<Date> | null>>;
const scopeOf = (row: Pick<PullRequestRow, 'org_id' | 'project_id' | 'thread_id'>) => ({
  orgId: row.org_id,
  projectId: row.project_id,
  threadId: row.thread_id,
  // An app's threads have no pull requests.
  feed: 'direct' as const,
});

const publish = (tx: Tx, row: PullRequestRow): void => {
  appendEvent(tx, scopeOf(row), 'pull_request.updated', { id: row.id, status: row.state });
};

type NewPullRequest = Omit<
  Parameters<typeof insertRow>[1],
  'version' | 'created_at' | 'updated_at' | 'push_status' | 'scm_summary'
>;

/** Records one of a locked thread, with its loop where it has one: version 1. */
export async function recordPullRequest(
  tx: Tx,
  values: NewPullRequest,
  loop: LoopChange | null,
): Promise<LoadedPullRequest> {
  const row = await insertRow(tx, values);
  publish(tx, row);
  return { row, loop: loop && (await addLoop(tx, row, loop)) };
}

/**
 * Changes a locked pull request and its loop. `version` rises, and `pull_request.updated` is published, when
 * its object changes in more than the times of looks. One that is no longer open waits for no push, its update
 * from the base has failed, and its loop is disabled.
 */
export async function changePullRequest(
  tx: Tx,
  loaded: LoadedPullRequest,
  change: PullRequestChange,
  loopChange: LoopChange = {},
): Promise<LoadedPullRequest> {
  const isLeft = (change.state ?? 'open') !== 'open' && loaded.row.state === 'open';
  const columns: PullRequestChange = {
    ...change,
    ...(isLeft ? left(loaded.row) : {}),
  };
  const loopColumns: LoopChange = isLeft ? loopAfter(loaded.loop?.status ?? null, 'end') : loopChange;
  const isPublished = !isDeepStrictEqual(seen(loaded), seen(changed(loaded, columns, loopColumns)));
  const loop = await storeLoop(tx, loaded, loopColumns, isPublished);
  if (Object.keys(columns).length === 0 && !isPublished) return { row: loaded.row, loop };
  const row = await writeRow(tx, loaded.row.id, {
    ...stored(columns),
    ...(isPublished ? { version: loaded.row.version + 1, updated_at: sql<Date>`now()` } : {}),
  });
  if (isPublished) publish(tx, row);
  return { row, loop };
}

const NOT_OPEN = { code: 'pull_request_not_open', message: 'The pull request is not open any more.' };

/** What ends with a pull request that is closed or merged. A repair that runs ends by itself, for nothing. */
const left = ({ push_status: push, branch_update: update }: PullRequestRow): PullRequestChange => ({
  push_status: pushAfter(push, 'leave'),
  push_retry_at: null,
  ...(update?.status === 'running'
    ? { branch_update: { ...update, status: 'failed', error: NOT_OPEN } }
    : {}),
});

function changed(
  { row, loop }: LoadedPullRequest,
  change: PullRequestChange,
  loopChange: LoopChange,
): LoadedPullRequest {
  const hasLoop = loop !== null || Object.keys(loopChange).length > 0;
  return {
    row: { ...row, ...change } as PullRequestRow,
    loop: hasLoop ? { ...(loop ?? ({ created_at: null } as never)), ...loopChange } : null,
  };
}

/** What a change has to be a change of. */
function seen({ row, loop }: LoadedPullRequest): unknown {
  const { updatedAt: _updated, ...view } = pullRequestView({
    row: { ...row, scm_summary_updated_at: null },
    loop: loop && { ...loop, last_observed_at: null, updated_at: loop.created_at },
  });
  return view;
}

async function storeLoop(
  tx: Tx,
  { row, loop }: LoadedPullRequest,
  change: LoopChange,
  isPublished: boolean,
): Promise<ReviewLoopRow | null> {
  if (Object.keys(change).length === 0) return loop;
  if (!loop) return addLoop(tx, row, change);
  return writeLoop(tx, loop.id, {
    ...storedLoop(change),
    ...(isPublished ? { updated_at: sql<Date>`now()` } : {}),
  });
}

const addLoop = (tx: Tx, row: PullRequestRow, change: LoopChange): Promise<ReviewLoopRow> =>
  insertLoop(tx, {
    org_id: row.org_id,
    id: newId('rvl'),
    pull_request_id: row.id,
    thread_id: row.thread_id,
    enabled: false,
    status: 'disabled',
    ...storedLoop(change),
  });

const storedLoop = ({ refused_summary: refused, ...change }: LoopChange): Updateable<ReviewLoopsTable> => ({
  ...change,
  ...(refused === undefined ? {} : { refused_summary: refused && json(refused) }),
});

const JSON_COLUMNS = ['push_error', 'branch_update', 'scm_summary'] as const;

function stored(change: PullRequestChange): Updateable<PullRequestsTable> {
  const columns: Record<string, unknown> = { ...change };
  for (const name of JSON_COLUMNS) if (columns[name]) columns[name] = json(columns[name]);
  return columns;
}
