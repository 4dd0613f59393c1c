/**
 * Sums of runs. Hours that are closed (close-hours.ts) have their sums; the runs of all other hours, and of the
 * broken ones at both ends of the time, are summed as they are now.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';

export interface Asked {
  orgId: string;
  projectIds: ReadonlySet<string> | null;
  from: Date;
  to: Date;
  groupBy: keyof typeof GROUPS;
}

const dayOf = (column: 'hour' | 'created_at') =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD')`;

/** What a grouping sums by, in runs and in hours, and the field that shows it. */
export const GROUPS = {
  day: { run: dayOf('created_at'), hour: dayOf('hour'), field: 'day' },
  project: { run: sql`project_id`, hour: sql`project_id`, field: 'projectId' },
  thread: { run: sql`thread_id`, hour: null, field: 'threadId' },
  model: { run: sql`model_id`, hour: sql`model_id`, field: 'modelId' },
} as const;

const HOUR_MS = 3_600_000;
const time = (date: Date) => sql`${date}::timestamptz`;
const NOTHING = { day: null, projectId: null, threadId: null, modelId: null };
const TOKENS = ['input_tokens', 'output_tokens', 'cached_tokens', 'cost_micros'];
const TOKEN_SUMS = sql.raw(TOKENS.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(', '));
const SHOWN = sql`sum(runs)::float8 as runs, sum(input_tokens)::float8 as "inputTokens", sum(output_tokens)::float8 as "outputTokens", sum(cached_tokens)::float8 as "cachedTokens", sum(cost_micros)::float8 as "costMicros"`;

interface Sums {
  key: string;
  projectId: string | null;
  runs: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  costMicros: number;
}

/** A page: the groups behind `after`, by descending key. */
interface PageOf {
  after: string | null;
  limit: number;
}

/** Sums of the runs begun in [from, to), by descending key behind `after`. */
export async function sumRuns(db: Db, asked: Asked, after: string | null, limit: number) {
  const { hour, field } = GROUPS[asked.groupBy];
  const page = { after, limit };
  // A page of the whole needs no more than a page of each part.
  const parts = hour
    ? sql`(${closedHours(asked, hour, page)}) union all (${openRuns(asked, page)})`
    : allRuns(asked, page);
  const { rows } = await sql<Sums>`
    select key, min(project_id) as "projectId", ${SHOWN} from (${parts}) as parts
    group by key order by key collate "C" desc limit ${limit}`.execute(db);
  return rows.map(({ key, projectId, ...sums }) => ({
    ...NOTHING,
    projectId: field === 'threadId' ? projectId : null,
    [field]: key,
    ...sums,
  }));
}

/** Indexes have their keys in this order: where one leads with `key`, groups behind the page are not read. */
const pageBy = (key: RawBuilder<unknown>, { after, limit }: PageOf) =>
  sql`${after === null ? sql`` : sql`and ${key} collate "C" < ${after}`} group by ${key} collate "C" order by ${key} collate "C" desc limit ${limit}`;

const ofProjects = ({ projectIds }: Asked) =>
  projectIds ? sql`and project_id = any(${[...projectIds]}::text[])` : sql``;

/** The whole hours in [from, to), those that are over: no later one is closed, and `to` may be the year 9999. */
function wholeHours({ from, to }: Asked): { first: Date; end: Date } {
  const first = Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS;
  const end = Math.floor(Math.min(to.getTime(), Date.now()) / HOUR_MS) * HOUR_MS;
  return { first: new Date(first), end: new Date(Math.max(first, end)) };
}

/** Where nothing is asked of projects, the rows of all projects together are enough. */
function closedHours(asked: Asked, key: RawBuilder<unknown>, page: PageOf): RawBuilder<unknown> {
  const { first, end } = wholeHours(asked);
  const isByProject = asked.groupBy === 'project' || asked.projectIds !== null;
  return sql`
    select ${key} collate "C" as key, null::text as project_id, sum(runs) as runs, ${TOKEN_SUMS} from usage_hours
    where org_id = ${asked.orgId} and project_id ${isByProject ? sql`>` : sql`=`} '' and hour >= ${first} and hour < ${end} ${ofProjects(asked)}
    ${pageBy(key, page)}`;
}

/** The times that no closed hour covers, from the organization's first run on. */
function openTimes(asked: Asked): RawBuilder<unknown> {
  const { orgId } = asked;
  const { first, end } = wholeHours(asked);
  const [from, to] = [time(asked.from), time(asked.to)];
  return sql`
    select hour as lo, hour + interval '1 hour' as hi
    from (select date_trunc('hour', min(created_at), 'UTC') as began from runs where org_id = ${orgId}) own
    cross join lateral generate_series(greatest(${time(first)}, own.began), ${time(end)} - interval '1 hour', interval '1 hour') hour
    where own.began is not null and not exists (select from usage_hours u where u.org_id = ${orgId} and u.project_id = '' and u.hour = hour.hour)
    union all select ${from}, least(${time(first)}, ${to})
    union all select greatest(${time(end)}, least(${time(first)}, ${to})), ${to}`;
}

function openRuns(asked: Asked, page: PageOf): RawBuilder<unknown> {
  const key = GROUPS[asked.groupBy].run;
  return sql`
    select ${key} collate "C" as key, null::text as project_id, count(*) as runs, ${TOKEN_SUMS}
    from (${openTimes(asked)}) as times cross join lateral (
      select * from runs where org_id = ${asked.orgId} and created_at >= lo and created_at < hi ${ofProjects(asked)}
    ) as run where true ${pageBy(key, page)}`;
}

function allRuns(asked: Asked, page: PageOf): RawBuilder<unknown> {
  const key = GROUPS[asked.groupBy].run;
  return sql`
    select ${key} collate "C" as key, min(project_id) as project_id, count(*) as runs, ${TOKEN_SUMS} from runs
    where org_id = ${asked.orgId} and created_at >= ${asked.from} and created_at < ${asked.to} ${ofProjects(asked)}
    ${pageBy(key, page)}`;
}
