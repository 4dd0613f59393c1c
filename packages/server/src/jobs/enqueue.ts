import { sql } from 'kysely';
import { json } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** Kinds and what they carry: ids only, the handler reads the state again. */
export interface JobKinds {
  'thread.initialize': { threadId: string };
  'run.work': { threadId: string };
  'exec.work': { execId: string };
  'apply.merge': { projectId: string };
  'build.work': { buildId: string };
  'setup.work': { setupId: string };
  'preview.work': { previewId: string };
  'workspace.archive': { threadId: string };
  'source.repack': { projectId: string };
  /** Pushes what the thread has, then looks at the provider. */
  'pull-request.sync': { pullRequestId: string };
  /** After a merge: the head of the thread's project follows the base branch. */
  'pull-request.follow-base': { pullRequestId: string; tries?: number };
  /** Names the pull request in a comment on its thread's issue. */
  'pull-request.comment': { pullRequestId: string; tries?: number };
  /** Copies the title of an issue to its task. */
  'task.title': { taskId: string; tries?: number };
  /** Replies to the review threads that a pass of the pull request's loop has addressed. */
  'pull-request.reply': { pullRequestId: string; tries?: number };
  /** Reads the repositories of an installation. */
  'scm.sync': { installationId: string };
  /** Looks at the pull requests that a change in a repository concerns: all, or some of them. */
  'scm.look-repository': { repositoryId: string; number?: number; commitSha?: string; branch?: string };
  /** Begins the execution when it is its turn, and ends it with its run. */
  'automation.execute': { executionId: string; tries?: number };
  'scm.maintain-repository': { repositoryId: string };
}
export type JobKind = keyof JobKinds;

/** Turns are an organization's first, and within one a project's. */
export interface Turn {
  org_id: string;
  project_id: string;
}

export interface EnqueueOptions {
  key?: string;
  /** Whose turn it takes. Without it, jobs of a kind take one turn together. */
  turnOf?: Turn;
  delaySeconds?: number;
}

/**
 * Adds a job in the caller's transaction and wakes a worker after its commit. Jobs of one `key` run one at
 * a time, in order; those of a kind are begun in turns of `turnOf`, see claim.ts. `delaySeconds`
 * counts on the database's clock. Returns the job's id.
 */
export async function enqueue<K extends JobKind>(
  tx: Tx,
  kind: K,
  payload: JobKinds[K],
  options: EnqueueOptions = {},
): Promise<number> {
  const { id } = await tx.db
    .insertInto('jobs')
    .values({
      kind,
      payload: json(payload as Record<string, unknown>),
      key: options.key ?? null,
      fair_org: options.turnOf?.org_id ?? '',
      fair_key: options.turnOf?.project_id ?? '',
      ...(options.delaySeconds
        ? { run_at: sql<Date>`now() + ${options.delaySeconds} * interval '1 second'` }
        : {}),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  tx.wake('jobs');
  return id;
}

/** Like `enqueue`, for many jobs in one statement. */
export async function enqueueMany<K extends JobKind>(
  tx: Tx,
  kind: K,
  jobs: readonly { payload: JobKinds[K]; key: string; turnOf: Turn }[],
): Promise<void> {
  if (jobs.length === 0) return;
  await sql`
    insert into jobs (kind, payload, key, fair_org, fair_key)
    select ${kind}, payload, key, org, project
    from unnest(${jobs.map(({ payload }) => JSON.stringify(payload))}::jsonb[], ${jobs.map(({ key }) => key)}::text[],
      ${jobs.map(({ turnOf }) => turnOf.org_id)}::text[], ${jobs.map(({ turnOf }) => turnOf.project_id)}::text[]) as j (payload, key, org, project)`.execute(
    tx.db,
  );
  tx.wake('jobs');
}

/**
 * As `enqueue`, for jobs that do all that there is to do for their `key`: none is added where one waits
 * already. A thousand of them would have to be looked through at every claim.
 */
export async function enqueueUnlessWaiting<K extends JobKind>(
  tx: Tx,
  kind: K,
  payload: JobKinds[K],
  { key, turnOf }: { key: string; turnOf: Turn },
): Promise<void> {
  // What waits is locked: it begins after the caller's commit, and sees what that committed.
  await sql`
    with waiting as (select id from jobs where key = ${key} and status = 'queued' limit 1 for update)
    insert into jobs (kind, payload, key, fair_org, fair_key) select ${kind}, ${JSON.stringify(payload)}::jsonb, ${key}, ${turnOf.org_id}, ${turnOf.project_id} where not exists (select from waiting)`.execute(
    tx.db,
  );
  tx.wake('jobs');
}
