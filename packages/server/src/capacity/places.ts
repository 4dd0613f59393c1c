/**
 * How many runs and builds may be under way at once: a project's `concurrency` bounds the project; its
 * organization's bounds all of its projects together, and each of them that sets none; the operator's bound
 * (`organizationBounds`) holds for each organization, whatever it sets.
 *
 *   queued --takePlace: a place is free, and it is its turn--> under way --ended: passPlaceOn--> the next
 *   ones' jobs are due
 *   queued --no place is free--> its job is delayed, and holds no worker meanwhile
 *
 * Setups are in the places of builds. What waits for something else (`jobs.waits_for`) has no turn meanwhile.
 *
 * Of the projects with something queued, it is the turn of the one that has the fewest under way; of equals,
 * of the one that started something longest ago; there, of what was queued first. Where a limit is raised,
 * or a worker died, `fillPlaces` finds the free place.
 */
import { sql } from 'kysely';
import type { OrganizationBounds } from '../config.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { preparedAs } from '../db/prepared.ts';
import type { ProjectRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { makeJobsDue } from '../jobs/store.ts';
import { effectiveSettings } from '../settings/index.ts';

export type Work = 'runs' | 'builds';
type In = Pick<ProjectRow, 'id' | 'org_id'>;

/** Only a fallback, as a job is made due when its place is free: looking at a thousand of them costs. */
export const PUT_OFF_SECONDS = 120;
const EVERY_MS = 2_000;
/** At most so many jobs are made due at once. */
const BATCH = 100;

/** Builds and setups together, of which each arm of a condition is found by its own index. */
const COMMANDS = sql`(
  select org_id, id, project_id, held, started_at, status = 'building' as is_active, status = 'queued' as is_queued, 'build.work' as job, 'build:' || id as key from builds
  union all
  select org_id, id, project_id, held, started_at, status = 'running', status = 'queued', 'setup.work', 'setup:' || id from setups)`;

const KINDS = {
  runs: {
    table: sql.table('runs'),
    job: sql`'run.work'`,
    active: sql`status in ('running', 'waiting')`,
    queued: sql`status = 'queued'`,
    waits: sql`w.status = 'queued' and w.held`,
    key: sql`'thread:' || w.thread_id`,
    age: sql`w.id`,
    ageOf: (id: string) => id,
    // A thread's runs have one job at a time: the first of them asks for all of them.
    comes: (asking: string | null) =>
      sql`not exists (select from runs e where e.thread_id = w.thread_id and e.status = 'queued' and e.held and e.position < w.position and e.id is distinct from ${asking})`,
  },
  builds: {
    table: COMMANDS,
    job: sql`w.job`,
    active: sql`is_active`,
    queued: sql`is_queued`,
    waits: sql`w.is_queued`,
    key: sql`w.key`,
    // Ids begin with their kind.
    age: sql`substr(w.id, 5)`,
    ageOf: (id: string) => id.slice(4),
    comes: () => sql`true`,
  },
} as const;

/** Whether queued work may start now. Another may take the place meanwhile: takePlace decides. */
export async function hasPlace({ db, config }: Context, work: Work, asking: Asking): Promise<boolean> {
  const limits = await limitsOf(db, work, asking.project, config.organizationBounds);
  return !limits || isNext(db, work, asking, limits);
}

/**
 * As hasPlace; where limits hold, the place is the caller's if its transaction starts the work. Its lock is
 * the last one before the work's own row.
 */
export async function takePlace(
  tx: Tx,
  work: Work,
  asking: Asking,
  { config }: Pick<Context, 'config'>,
): Promise<boolean> {
  const limits = await limitsOf(tx.db, work, asking.project, config.organizationBounds);
  if (!limits) return true;
  // Only one counts and starts at a time: two that count at once would both take the last place.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${work} of ${asking.project.org_id}`}, 0))`.execute(
    tx.db,
  );
  return isNext(tx.db, work, asking, limits);
}

/**
 * Makes the next job due, after work of the organization has ended, or has left its turn to another, in this
 * transaction. It takes the place itself: nothing is counted here for those that have no bound.
 */
export async function passPlaceOn(tx: Tx, work: Work, { org_id: orgId }: In): Promise<void> {
  const { table, queued } = KINDS[work];
  const held = sql`select from ${table} w where org_id = ${orgId} and ${queued} and held limit 1`;
  const { rows } = await tx.db.executeQuery(preparedAs(`held_${work}`, held.compile(tx.db)));
  if (rows.length) await makeDue(tx, { work, orgId, bound: null }, 1);
}

/** Safe in every process at once. */
export function fillPlaces(ctx: Context, when: When): void {
  const look = async () => {
    for (const work of ['runs', 'builds'] as const) {
      const bound = ctx.config.organizationBounds[work];
      await transaction(ctx, (tx) => makeDue(tx, { work, orgId: null, bound }, BATCH));
    }
  };
  every(EVERY_MS, look, {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'free places were not looked for'),
  });
}

/** Queued work that asks for a place. */
interface Asking {
  id: string;
  project: In;
}

/** The queued work of one organization, or of all; `bound`: the operator's for each. */
interface Among {
  work: Work;
  orgId: string | null;
  bound: number | null;
}

type Limits = { own: number | null; organization: number | null };

/** Undefined where there is none. */
async function limitsOf(
  db: Db | Tx['db'],
  work: Work,
  { id }: In,
  bounds: OrganizationBounds,
): Promise<Limits | undefined> {
  const {
    concurrency: { [work]: own },
    organizationConcurrency: { [work]: set },
  } = await effectiveSettings(db, { project_id: id });
  const organization = least(set, bounds[work]);
  return own === null && organization === null ? undefined : { own, organization };
}

const least = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));

/** Checked first: where thousands wait, ordering them costs more. */
async function isFull(
  db: Db | Tx['db'],
  work: Work,
  { id, org_id: orgId }: In,
  limits: Limits,
): Promise<boolean> {
  const { table, active } = KINDS[work];
  const {
    rows: [busy],
  } = await sql<{
    own: number;
    organization: number;
  }>`select count(*) filter (where project_id = ${id}) as own, count(*) as organization from ${table} w where ${active} and org_id = ${orgId}`.execute(
    db,
  );
  return busy!.own >= (limits.own ?? Infinity) || busy!.organization >= (limits.organization ?? Infinity);
}

/**
 * The queued work that has a place, of one organization or of all. Work whose job is under way (its
 * workspace is being prepared) keeps its turn; `asking` has one in any case. A job that failed keeps its
 * time, and nothing waits for it.
 */
function withPlaces({ work, orgId, bound }: Among, asking?: Asking) {
  const { table, job, active, waits, key, comes, age, ageOf } = KINDS[work];
  const others = sql`${waits} and w.id is distinct from ${asking?.id ?? null}`;
  return sql`
    busy as (
      select project_id, org_id, count(*) as n from ${table} w where ${active} and (${orgId}::text is null or org_id = ${orgId}) group by project_id, org_id
    ), room as (
      select p.id as project_id, p.org_id, coalesce(b.n, 0) as n, (coalesce(p.settings->'concurrency'->>${work}, o.settings->'concurrency'->>${work}))::int as most,
        coalesce((select sum(n) from busy where busy.org_id = p.org_id), 0) as organization_n, least((o.settings->'concurrency'->>${work})::int, ${bound}::int) as organization_most,
        (select max(started_at) from ${table} s where s.project_id = p.id) as served
      from projects p join organizations o on o.id = p.org_id left join busy b on b.project_id = p.id
      where p.id in (select w.project_id from ${table} w where ${waits} and (${orgId}::text is null or w.org_id = ${orgId}) ${asking ? sql`union select ${asking.project.id}` : sql``})
    ), waiting as (
      -- No more of a project than it has room for, the oldest: thousands may wait.
      select first.job, first.oldest, first.age, r.project_id from room r cross join lateral (
        select w.id as oldest, ${age} as age, (select min(j.id) from jobs j where j.key = ${key} and j.kind = ${job} and j.failures = 0 and j.waits_for is null and j.status = 'queued') as job
        from ${table} w where w.project_id = r.project_id and ${others} and ${comes(asking?.id ?? null)} and exists (select from jobs j where j.key = ${key} and j.kind = ${job} and j.failures = 0 and j.waits_for is null)
        order by ${age} limit greatest(0, coalesce(least(r.most - r.n, r.organization_most - r.organization_n), ${BATCH}))
      ) first
      ${asking ? sql`union all select null, ${asking.id}, ${ageOf(asking.id)}, ${asking.project.id}` : sql``}
    ), placed as (
      select w.job, w.oldest, w.age, r.*, r.n + row_number() over (partition by w.project_id order by w.age) as place from waiting w join room r on r.project_id = w.project_id
    ), turns as (
      select *, organization_n + row_number() over (partition by org_id order by place, served nulls first, age) as turn from placed where most is null or place <= most
    ), next as (select * from turns where organization_most is null or turn <= organization_most)`;
}

async function isNext(db: Db | Tx['db'], work: Work, asking: Asking, limits: Limits): Promise<boolean> {
  const { id, project } = asking;
  if (await isFull(db, work, project, limits)) return false;
  const { rows } =
    await sql`with ${withPlaces({ work, orgId: project.org_id, bound: limits.organization }, asking)} select from next where oldest = ${id}`.execute(
      db,
    );
  return rows.length > 0;
}

/** Makes jobs due whose work has a place. */
const makeDue = (tx: Tx, among: Among, most: number): Promise<void> =>
  makeJobsDue(tx, sql`with ${withPlaces(among)} select job from next order by turn limit ${most}`);
