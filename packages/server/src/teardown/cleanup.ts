/**
 * What is deleted goes. The rows and objects of a deleted project's sources and builds go after a grace, in
 * which work that is under way in it ends in peace; all other contents of deleted threads, projects and
 * organizations go once the log, too, has forgotten them. Rows that usage counts by, or that others name,
 * stay without contents. It reconciles from state. One process at a time removes rows: another one's batches
 * would look like the end of them, and what a process leaves when it dies would count as removed.
 *
 *   deleted --grace--> emptied of sources and builds (projects) --retention--> purged
 */
import { sql } from 'kysely';
import { markOrganizationsPurged } from '../accounts/index.ts';
import { purgeApplies, purgeCandidates } from '../applies/index.ts';
import { purgeApprovals, purgeDecisions } from '../approvals/index.ts';
import {
  executionsBefore,
  hookDeliveriesBefore,
  markAutomationsPurged,
  purgeAutomations,
} from '../automations/index.ts';
import { purgeBuilds } from '../builds/index.ts';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import { CLEANUP_LOCK } from '../db/advisory-locks.ts';
import { purgeAll } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import { withSessionLock } from '../db/session-lock.ts';
import { purgeDrafts } from '../events/index.ts';
import { hasExecs, purgeExecs, purgeProjectExecs } from '../execs/index.ts';
import { every } from '../jobs/every.ts';
import type { Loop } from '../jobs/every.ts';
import { purgeMessages, purgeTranscripts } from '../messages/index.ts';
import { purgeAppPreviews, purgePreviews } from '../previews/index.ts';
import { markProjectEmptied, markProjectsPurged, purgeHeadHistory } from '../projects/index.ts';
import { purgePullRequests } from '../pull-requests/index.ts';
import { purgeRuns, purgeTools } from '../runs/index.ts';
import { cleanUpLocalFolders, purgeHosted } from '../scm/index.ts';
import { purgeSetups } from '../setups/index.ts';
import {
  cleanUpObjects,
  expireRest,
  expireRestOfOrganization,
  purgeBlobs,
  purgePacks,
  purgeSources,
} from '../sources/index.ts';
import { purgeTasks } from '../tasks/index.ts';
import { markThreadsPurged } from '../threads/index.ts';
import { findDeletedSubscriptions, purgeSubscriptions } from '../webhooks/index.ts';

/** Threads of one batch; projects or organizations of one round, and the next goes on. */
const BATCH = 100;

const DAY_SECONDS = 86_400;
const KEPT_EXECUTIONS_SECONDS = 90 * DAY_SECONDS;
/** How long a hook of the same id is a duplicate. */
const KEPT_HOOKS_SECONDS = 7 * DAY_SECONDS;

type Cleaning = Pick<Context, 'db' | 'directConnection' | 'store' | 'log' | 'config' | 'shutdown' | 'clock'>;

/** A command that has not ended settles its receipt first. */
const OF_PROJECTS: Purge[] = [
  purgeProjectExecs,
  purgeBlobs,
  purgePacks,
  purgeHeadHistory,
  purgeBuilds,
  purgeSetups,
  purgeSources,
];
/** Approvals name tools. */
const OF_THREADS: Purge[] = [
  purgeDrafts,
  purgeMessages,
  purgeTranscripts,
  purgeApprovals,
  purgeDecisions,
  purgeTools,
  purgePreviews,
  purgeExecs,
  purgeCandidates,
  purgeApplies,
  purgePullRequests,
  purgeRuns,
];

/** Starts the loop: every minute, more often where the grace is short. */
export function startCleanup(ctx: Cleaning): Loop {
  const everyMs = Math.min(60_000, Math.max(1_000, (ctx.config.cleanupGraceSeconds * 1000) / 4));
  return every(everyMs, () => cleanUp(ctx), {
    onFailure: (err) => ctx.log.warn({ err }, 'the clean-up of what was deleted failed; it is tried again'),
  });
}

/** One round: removes what is due now. */
export async function cleanUp(ctx: Cleaning): Promise<void> {
  await cleanUpObjects(ctx);
  await withSessionLock({ connection: ctx.directConnection, key: CLEANUP_LOCK }, async () => {
    await removeStored(ctx);
    await cleanUpLocalFolders(ctx);
    await removeSubscriptions(ctx);
    await purgeAll(ctx, executionsBefore(ago(ctx, KEPT_EXECUTIONS_SECONDS)), []);
    await purgeAll(ctx, hookDeliveriesBefore(ago(ctx, KEPT_HOOKS_SECONDS)), []);
    await purgeDeletedAutomations(ctx);
    while ((await purgeThreads(ctx)) === BATCH && !ctx.shutdown.aborted);
    await purgeProjects(ctx);
    await purgeRepositories(ctx);
    await purgeOrganizations(ctx);
  });
}

const ago = (ctx: Cleaning, seconds: number) =>
  sql`${databaseNow(ctx)} - ${seconds}::int * interval '1 second'`;

/** Projects beyond the grace: their sources, builds and ended commands. */
async function removeStored(ctx: Cleaning): Promise<void> {
  const { rows } = await sql<{ id: string; org_id: string }>`
    select p.id, p.org_id from projects p
    where p.purged_at is null and p.emptied_at is null and p.deleted_at <= ${ago(ctx, ctx.config.cleanupGraceSeconds)}
    order by p.deleted_at limit ${BATCH}`.execute(ctx.db);
  for (const { id, org_id: orgId } of rows) {
    await expireRest(ctx, id, orgId);
    for (const purge of OF_PROJECTS) await purgeAll(ctx, purge, [id]);
    if (!ctx.shutdown.aborted && !(await hasExecs(ctx.db, id))) await markProjectEmptied(ctx.db, id);
  }
}

/** Deleted subscriptions are removed at once: nothing reads their deliveries. */
async function removeSubscriptions(ctx: Cleaning): Promise<void> {
  const ids = await findDeletedSubscriptions(ctx.db, BATCH);
  if (ids.length) for (const purge of purgeSubscriptions) await purgeAll(ctx, purge, ids);
}

/** Deleted automations whose executions have ended. */
async function purgeDeletedAutomations(ctx: Cleaning): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select a.id from automations a where a.purged_at is null and a.deleted_at <= ${ago(ctx, ctx.config.eventRetentionSeconds)}
      and not exists (select from executions e where e.automation_id = a.id and e.status in ('queued', 'running'))
    order by a.deleted_at limit ${BATCH}`.execute(ctx.db);
  const ids = rows.map(({ id }) => id);
  if (!ids.length) return;
  for (const purge of purgeAutomations) await purgeAll(ctx, purge, ids);
  if (!ctx.shutdown.aborted) await markAutomationsPurged(ctx.db, ids);
}

/** Returns how many are purged. One whose command or preview has not ended is left to a later round. */
async function purgeThreads(ctx: Cleaning): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select t.id from threads t where t.purged_at is null and t.deleted_at <= ${ago(ctx, ctx.config.eventRetentionSeconds)}
      and not exists (select from execs e where e.thread_id = t.id and e.status in ('queued', 'running'))
      and not exists (select from previews v where v.thread_id = t.id and v.status in ('starting', 'ready'))
    order by t.deleted_at limit ${BATCH}`.execute(ctx.db);
  const ids = rows.map(({ id }) => id);
  if (!ids.length) return 0;
  for (const purge of OF_THREADS) await purgeAll(ctx, purge, ids);
  if (!ctx.shutdown.aborted) await markThreadsPurged(ctx.db, ids);
  return ids.length;
}

async function purgeProjects(ctx: Cleaning): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select p.id from projects p where p.purged_at is null and p.deleted_at <= ${ago(ctx, ctx.config.eventRetentionSeconds)}
      and p.emptied_at is not null and not exists (select from threads t where t.project_id = p.id and t.deleted_at is not null and t.purged_at is null)
    order by p.deleted_at limit ${BATCH}`.execute(ctx.db);
  const ids = rows.map(({ id }) => id);
  if (!ids.length) return;
  await purgeAll(ctx, purgeTasks, ids);
  await purgeAll(ctx, purgeAppPreviews, ids);
  if (!ctx.shutdown.aborted) await markProjectsPurged(ctx.db, ids);
}

/** Repositories that this service hosted, once their folders have gone, too: those are found by the rows. */
async function purgeRepositories(ctx: Cleaning): Promise<void> {
  const seconds = Math.max(ctx.config.eventRetentionSeconds, 2 * ctx.config.cleanupGraceSeconds);
  const { rows } = await sql<{ id: string }>`
    select id from repositories where provider = 'local' and deleted_at <= ${ago(ctx, seconds)}
    order by deleted_at limit ${BATCH}`.execute(ctx.db);
  const ids = rows.map(({ id }) => id);
  if (ids.length) for (const purge of purgeHosted) await purgeAll(ctx, purge, ids);
}

async function purgeOrganizations(ctx: Cleaning): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select o.id from organizations o where o.purged_at is null and o.deleted_at <= ${ago(ctx, ctx.config.eventRetentionSeconds)}
    order by o.deleted_at limit ${BATCH}`.execute(ctx.db);
  for (const { id } of rows) await expireRestOfOrganization(ctx, id);
  if (rows.length)
    await markOrganizationsPurged(
      ctx.db,
      rows.map(({ id }) => id),
    );
}
