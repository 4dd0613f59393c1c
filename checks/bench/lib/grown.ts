/**
 * Fills a database by SQL with what years of use leave in it. The rows have the form of real ones, but no
 * files: sources have no contents. One app has a tenth of all threads, and its first thread a hundredth of all
 * runs. Each thread has an apply, a build and a preview, and there are as many receipts and rows of a Direct
 * project, which is newer.
 */
import type { Pool, PoolClient } from 'pg';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import { closeHours } from '../../../packages/server/src/usage/close-hours.ts';

export interface Size {
  apps: number;
  threads: number;
  runs: number;
  events: number;
  sources: number;
}

/** A type that only the log's first ten events have. */
export const RARE_TYPE = 'checkpoint.created';
/** A word in the titles of the first ten threads only, which are also the only failed ones. */
export const RARE_TITLE = 'overdue';
/** A word in every other thread's title. */
export const COMMON_TITLE = 'login';
/** The size of the first build's log, in bytes. */
export const LOG_BYTES = 2 * 1024 * 1024;
const DAYS = 6;
const BATCH = 500_000;

/** The `number`th id of its kind: it sorts before those that the service makes. */
const id = (prefix: string, number: string) => `'${prefix}_0' || lpad((${number})::text, 25, '0')`;
export const idOf = (prefix: string, number: number): string =>
  `${prefix}_0${String(number).padStart(25, '0')}`;

export async function grow(pool: Pool, orgId: string, size: Size): Promise<void> {
  await fillTables(pool, orgId, size);
  const database = openDatabase(pool.options, { max: 2 });
  await closeHours({ db: database.db, shutdown: new AbortController().signal });
  await database.close();
}

async function fillTables(pool: Pool, orgId: string, size: Size): Promise<void> {
  const client = await pool.connect();
  const fill: Fill = async (table, columns, count, values) => {
    for (let from = 1; from <= count; from += BATCH)
      await client.query(
        `insert into ${table} (${columns}) select ${values} from generate_series(${from}, ${Math.min(count, from + BATCH - 1)}) n`,
      );
  };
  const thread = (number: string) =>
    `case when ${number} % 100 = 0 then 1 else 2 + ${number} % ${size.threads - 1} end`;
  const app = (number: string) =>
    `case when ${number} % 10 = 1 then 1 else 2 + ${number} % ${size.apps - 1} end`;
  const at = (number: string, count: number) =>
    `now() - interval '${DAYS} days' * (1 - (${number})::float8 / ${count + 1})`;
  try {
    // Foreign keys are not checked: the rows are right by construction.
    await client.query('set session_replication_role = replica; set synchronous_commit = off');
    await partitions(client);
    const indexes = await dropIndexes(client);
    await fill(
      'projects',
      'org_id, id, kind, name, created_at, updated_at',
      size.apps,
      `'${orgId}', ${id('prj', 'n')}, 'platform', 'App ' || n, ${at('n', size.apps)}, now()`,
    );
    await fill(
      'sources',
      'org_id, id, project_id, origin, sha256, byte_size, file_count, manifest, created_at',
      size.sources,
      `'${orgId}', ${id('src', 'n')}, ${id('prj', app('n'))}, 'run', repeat('0', 64), 1000, 10, '', ${at('n', size.sources)}`,
    );
    await fillThreads(fill, orgId, size, { app, at });
    await fill(
      'runs',
      'org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, input_tokens, output_tokens, cost_micros, created_by, created_at, started_at, finished_at',
      size.runs,
      `'${orgId}', ${id('run', 'n')}, ${id('prj', app(thread('n')))}, ${id('thr', thread('n'))}, ${id('msg', 'n')}, 'message', 'scripted', 'scripted', 'completed', 1000, 100, 5, 'sa_bench', ${at('n', size.runs)}, ${at('n', size.runs)}, ${at('n', size.runs)}`,
    );
    await fill(
      'messages',
      'org_id, id, thread_id, run_id, role, content, sequence, created_at',
      size.runs,
      `'${orgId}', ${id('msg', 'n')}, ${id('thr', thread('n'))}, ${id('run', 'n')}, 'assistant', 'Done.', n, ${at('n', size.runs)}`,
    );
    await fill(
      'tools',
      'org_id, id, thread_id, run_id, call_id, name, status, first_event_id',
      size.runs / 10,
      `'${orgId}', ${id('tool', 'n')}, ${id('thr', '1')}, ${id('run', `case when n % 10 = 0 then 100 else n end`)}, n::text, 'sh', 'completed', 'x'`,
    );
    await fill(
      'operations',
      'org_id, id, actor_id, idempotency_key, fingerprint, method, path, permissions, published, status, response_status, response, created_at, settled_at',
      size.runs,
      `'${orgId}', ${id('op', 'n')}, 'sa_bench', 'key ' || n, '', 'PATCH', '/', '{thread:update}', false, 'succeeded', 200, '{"ok":true}', ${at('n', size.runs)}, ${at('n', size.runs)}`,
    );
    await fill(
      'events',
      'org_id, sequence, event_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at',
      size.events,
      `'${orgId}', n, ${id('evt', 'n')}, 'platform', case when n <= 10 then '${RARE_TYPE}' else 'run.updated' end, ${id('prj', `case when n <= 10 then 1 else ${app(thread('n'))} end`)}, ${id('thr', thread('n'))}, ${id('run', `1 + n % ${size.runs}`)}, jsonb_build_object('id', n, 'status', 'running'), ${at('n', size.events)}, ${at('n', size.events)}`,
    );
    await client.query('update log_state set last_sequence = $1, last_published_at = now()', [size.events]);
    // Built from sorted rows, in a fraction of the time that they take row by row.
    for (const definition of indexes) await client.query(definition);
    await client.query('set session_replication_role = default');
    await client.query('vacuum analyze');
  } finally {
    client.release(true);
  }
}

type Fill = (table: string, columns: string, count: number, values: string) => Promise<void>;

/** Threads with an apply, a build and a preview each, of apps and then of a Direct project. */
async function fillThreads(
  fill: Fill,
  orgId: string,
  { threads, apps }: Size,
  { app, at }: { app: (number: string) => string; at: (number: string, count: number) => string },
): Promise<void> {
  const direct = `n > ${threads}`;
  await fill(
    'projects',
    'org_id, id, kind, name',
    1,
    `'${orgId}', ${id('prj', `${apps} + n`)}, 'direct', 'Direct'`,
  );
  const own = `'${orgId}', ${id('prj', `case when ${direct} then ${apps} + 1 else ${app('n')} end`)}, not ${direct}, ${at('n', 2 * threads)}`;
  const rare = (status: string, others: string) => `case when n <= 10 then '${status}' else '${others}' end`;
  await fill(
    'threads',
    'org_id, project_id, listed, created_at, id, status, title, initialization_state, created_by, updated_at, workspace_status',
    2 * threads,
    `${own}, ${id('thr', 'n')}, ${rare('failed', 'ready')}, case when n <= 10 then 'The ${RARE_TITLE} ' when n % 2 = 0 then 'Mend the ${COMMON_TITLE} ' else 'Draw the page ' end || n, 'completed', 'sa_bench', ${at('n', 2 * threads)}, 'archived'`,
  );
  const ofThread = `${own}, ${id('thr', 'n')}, 'sa_bench'`;
  const columns = 'org_id, project_id, listed, created_at, thread_id, created_by';
  await fill(
    'applies',
    `${columns}, id, status, sequence, conflict_resolution, draft_source_id`,
    2 * threads,
    `${ofThread}, ${id('apl', 'n')}, ${rare('conflicted', 'applied')}, n, 'agent', 'src_1'`,
  );
  await fill(
    'builds',
    `${columns}, id, status, source_id, command, output_directory, timeout_seconds, logs_byte_size`,
    2 * threads,
    `${ofThread}, ${id('bld', 'n')}, ${rare('failed', 'ready')}, 'src_1', 'make', '.', 60, ${LOG_BYTES}`,
  );
  await fill(
    'build_logs',
    'org_id, build_id, journal_offset, content',
    LOG_BYTES / 1024,
    `'${orgId}', ${id('bld', '1')}, n, repeat('x', 1024)`,
  );
  await fill(
    'previews',
    `${columns}, id, status, token, command, port`,
    2 * threads,
    `${ofThread}, ${id('prv', 'n')}, ${rare('failed', 'stopped')}, ${id('t', 'n')}, 'make', 3000`,
  );
}

/** Drops what no constraint needs of the filled tables; returns the statements that make it again. */
async function dropIndexes(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where schemaname = 'public' and tablename in ('events', 'runs', 'messages', 'threads', 'sources', 'applies', 'builds', 'previews')
       and indexname not in (select conname from pg_constraint)`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '));
}

/** Of the days before today, which a service of that age has. */
async function partitions(client: { query(text: string): Promise<unknown> }): Promise<void> {
  const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  for (let day = 1; day <= DAYS + 1; day++) {
    const [from, to] = [day, day - 1].map((days) => new Date(today - days * 86_400_000).toISOString());
    const name = `events_${from!.slice(0, 10).replaceAll('-', '')}`;
    await client.query(
      `create table if not exists ${name} partition of events for values from ('${from!}') to ('${to!}')`,
    );
  }
}
