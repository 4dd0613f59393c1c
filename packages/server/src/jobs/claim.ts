/**
 * Who is next. Of a kind's due jobs one of the organization that has the fewest under way, and there one of
 * the project that has the fewest, there the oldest: neither a thousand queued runs nor a thousand projects
 * of one organization hold up another's single run. Among equals it is who was served longest ago, as this
 * worker remembers it: where there is one place, none has anything under way when it gets free. What waits
 * for a person is not under way; a project whose twenty runs wait for answers would never have its turn.
 *
 * The turns are found by walking from one organization to the next in an index, and in it from one project to
 * the next, `WALK` of them at most. Where there are more organizations, the next claim goes on where this one
 * ended; where there are more projects, the next claim of that organization begins behind the project that
 * was served last, and takes the organization's oldest job if the walk found none. So it is exact for `WALK`
 * organizations with `WALK` projects that have queued jobs; more of them have their turns one walk after the
 * other.
 *
 * What is under way is read from sums (busy-counts.ts), so a claim costs PostgreSQL the same 1.0-1.3 ms of CPU with 100 and with
 * 50,000 active jobs; counting them took 5 ms with 10,000 and 21 with 50,000. Rejected: counting for all projects
 * (10,000 of them: 30 ms); numbering a project's
 * jobs as they come and sorting by that, which shares beginnings, not places: who has the longer runs would
 * get most of the machine.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { preparedAs } from '../db/prepared.ts';
import type { JobRow } from '../db/schema.ts';
import type { JobKind } from './enqueue.ts';

const WALK = 32;
const REMEMBERED = 64;
/** A rival may win a key between the look and the update. */
const RIVALS = 5;

/** Of `claimed`; the statement is prepared, so it names them. */
const COLUMNS = [
  'id',
  'kind',
  'key',
  'fair_org',
  'fair_key',
  'waiting',
  'payload',
  'status',
  'run_at',
  'attempt',
  'failures',
  'worker_id',
  'last_error',
  'claimed_at',
  'created_at',
]
  .map((column) => `claimed.${column}`)
  .join(', ');

/** The first queued job of the organization's next project after that one; of its first project after its last. */
const nextProject = (after: RawBuilder<unknown>) => {
  const first = sql`select fair_key, run_at, id from jobs where status = 'queued' and kind = turn.kind and fair_org = turn.fair_org`;
  const order = sql`order by fair_key, run_at, id limit 1`;
  return sql`(${first} and fair_key > ${after} ${order}) union all (${first} ${order}) limit 1`;
};

/** A job that a worker leaves to others waits for them for so long, longer than they take to poll; then it may try again. */
const LEFT_SECONDS = 3.5;

/** Whether a job `j` of the organization whose `turn` it is is due, not left by this worker, and its key free. */
const isFree = (
  workerId: string,
) => sql`j.status = 'queued' and j.kind = turn.kind and j.fair_org = turn.fair_org and j.run_at <= now()
    and (j.left_by is distinct from ${workerId} or j.run_at <= now() - ${LEFT_SECONDS} * interval '1 second')
    and (j.key is null or not exists (select 1 from jobs o where o.key = j.key and o.id <> j.id and (o.status = 'active' or o.id < j.id)))`;

/** How many jobs of a kind an organization has under way, of all its projects or of one. */
const busyCount = (kind: RawBuilder<unknown>, org: RawBuilder<unknown>, project: RawBuilder<unknown>) =>
  sql`select coalesce(sum(b.change), 0) as n from busy_counts b where b.kind = ${kind} and b.fair_org = ${org} and ${project}`;

/** What a claim may take: kinds, and of each the organizations that may have no more of it here. */
export type Claimable = ReadonlyMap<JobKind, readonly string[]>;

/** Makes the function that claims one job for that worker; undefined when none is due. */
export function createClaim(db: Db, workerId: string): (claimable: Claimable) => Promise<JobRow | undefined> {
  /** Where the next walk begins, by kind; the front where nothing is said. */
  let from: Record<string, string> = {};
  /** Kinds with the organizations and projects of the last claims, the latest last. */
  let served: string[] = [];
  /** The project served last, by kind and organization. */
  const servedLast = new Map<string, string>();

  async function look(claimable: Claimable): Promise<{ row?: JobRow; beyond: typeof from | null }> {
    const kinds = [...claimable.keys()];
    const full = [...claimable].flatMap(([kind, orgs]) => orgs.map((org) => `${kind} ${org}`));
    const statement = sql<Partial<JobRow> & { beyond: typeof from | null }>`
      with recursive orgs as (
        select a.kind, j.fair_org, j.run_at, j.id, 1 as n from unnest(${kinds}::text[], ${kinds.map((kind) => from[kind] ?? '')}::text[]) as a (kind, start)
        cross join lateral (select * from jobs where status = 'queued' and kind = a.kind and fair_org >= a.start order by fair_org, run_at, id limit 1) j
        union all
        select o.kind, j.fair_org, j.run_at, j.id, o.n + 1 from orgs o
        cross join lateral (select * from jobs where status = 'queued' and kind = o.kind and fair_org > o.fair_org order by fair_org, run_at, id limit 1) j
        where o.n < ${WALK}
      ), claimed as (
        update jobs set status = 'active', attempt = attempt + 1, worker_id = ${workerId}, claimed_at = now(), waiting = false, waits_for = null, left_by = null
        where id = (
          select mine.id from (
            select kind, fair_org from orgs cross join lateral (${busyCount(sql`orgs.kind`, sql`orgs.fair_org`, sql`b.fair_key is null`)}) busy
            where run_at <= now() and kind || ' ' || fair_org <> all(${full}::text[])
            order by busy.n, coalesce(array_position(${served}::text[], kind || ' ' || fair_org), 0), run_at, orgs.id
          ) turn
          -- Asked in that order, until one has a job whose key is free and that no rival is about to take.
          cross join lateral (
            with recursive projects as (
              select j.*, j.fair_key as first, 1 as n from (${nextProject(sql`coalesce(${JSON.stringify(Object.fromEntries(servedLast))}::jsonb ->> (turn.kind || ' ' || turn.fair_org), '')`)}) j
              union all
              select j.*, p.first, p.n + 1 from projects p cross join lateral (${nextProject(sql`p.fair_key`)}) j
              where p.n < ${WALK} and j.fair_key <> p.first
            )
            (select j.id from (
              select p.fair_key from projects p cross join lateral (${busyCount(sql`turn.kind`, sql`turn.fair_org`, sql`b.fair_key = p.fair_key`)}) busy
              where p.run_at <= now()
              order by busy.n, coalesce(array_position(${served}::text[], turn.kind || ' ' || p.fair_key), 0), p.run_at, p.id
            ) project cross join lateral (select j.id from jobs j where j.fair_key = project.fair_key and ${isFree(workerId)} order by j.run_at, j.id for update skip locked limit 1) j)
            union all
            (select j.id from (select j.id from jobs j where exists (select from projects where n = ${WALK}) and ${isFree(workerId)} order by j.run_at, j.id for update skip locked limit 1) j)
            limit 1
          ) mine limit 1)
        returning *
      )
      select ${sql.raw(COLUMNS)}, (select json_object_agg(kind, fair_org) from orgs where n = ${WALK}) as beyond from (values (1)) one left join claimed on true`;
    const {
      rows: [found],
    } = await db.executeQuery(preparedAs('claim_job', statement.compile(db)));
    const { beyond, ...row } = found!;
    return row.id === null ? { beyond } : { row: row as JobRow, beyond };
  }

  function remember({ kind, fair_org: org, fair_key: project }: JobRow): void {
    const turns = [`${kind} ${org}`, `${kind} ${project}`];
    served = [...served.filter((other) => !turns.includes(other)), ...turns].slice(-2 * REMEMBERED);
    servedLast.delete(turns[0]!);
    servedLast.set(turns[0]!, project);
    if (servedLast.size > REMEMBERED) servedLast.delete(servedLast.keys().next().value!);
  }

  return async (claimable) => {
    if (!claimable.size) return undefined;
    let isFromFront = Object.keys(from).length === 0;
    for (let rivals = 0; ;) {
      const found = await look(claimable).catch((error: unknown) => {
        if ((error as { code?: string }).code === '23505' && rivals++ < RIVALS) return undefined;
        throw error;
      });
      if (!found) continue;
      from = found.beyond ?? {};
      if (found.row) {
        remember(found.row);
        return found.row;
      }
      if (!found.beyond && isFromFront) return undefined;
      isFromFront ||= !found.beyond;
    }
  };
}
