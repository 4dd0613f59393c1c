/**
 * For tests: everything that a service wrote into its log, held against what the log may say. `data` is
 * compared with its type's schema, which allows nothing else; the envelope with the rows that it names; the
 * feed with the project's kind.
 */
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import type { EventRow } from '../db/schema.ts';
import { compile } from '../http/validate.ts';
import { isId } from '../ids.ts';
import { EVENT_DATA, EVENT_TYPES, isEventType } from './types.ts';

/** An event as written, published or not, with its project and thread. */
type Written = Omit<EventRow, 'sequence' | 'published_at'> & {
  sequence: number | null;
  published_at: Date | null;
  /** Null where the project is none, or its row is gone. */
  project_kind: 'platform' | 'direct' | null;
  thread_project: string | null;
  /** Of the build or preview that it tells of; null where that is none, or its row is gone. */
  work: { thread: string | null } | null;
};

const WRITTEN = `
  select e.*, p.kind as project_kind, t.project_id as thread_project,
    coalesce((select jsonb_build_object('thread', thread_id) from builds where id = e.data->>'id'),
      (select jsonb_build_object('thread', thread_id) from previews where id = e.data->>'id')) as work from (
    select sequence, event_id, org_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at from events
    union all select null, event_id, org_id, feed, type, project_id, thread_id, run_id, data, occurred_at, null from outbox) e
  left join projects p on p.id = e.project_id left join threads t on t.id = e.thread_id
  order by e.sequence nulls last`;

const checks = new Map(EVENT_TYPES.map((type) => [type as string, compile(EVENT_DATA[type], 'body')]));
/** Types whose `data.id` is the id in the envelope, and where. */
const NAMED_BY: [RegExp, (e: Written) => string | null, string][] = [
  [/^thread\./, (e) => e.thread_id, 'threadId'],
  [/^run\./, (e) => e.run_id, 'runId'],
  [/^platform\.(app|head)\./, (e) => e.project_id, 'projectId'],
];
const OF_A_THREAD = /^(thread|run|message|tool|approval|checkpoint|workspace|platform\.apply)\./;
const OF_A_RUN = /^(run|tool|approval)\./;

/** What is wrong with one event: `<field>: <why>`. */
function faultsOf(e: Written): string[] {
  if (!isEventType(e.type)) return ['type: there is none of this name'];
  const faults = checks.get(e.type)!(e.data).map(({ path, message }) => `data${path}: ${message}`);
  const must = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  must(isId('evt', e.event_id), 'id: is not of its form');
  must(isId('org', e.org_id), 'orgId: is not of its form');
  must(e.project_id === null || isId('prj', e.project_id), 'projectId: is not of its form');
  must(e.thread_id === null || isId('thr', e.thread_id), 'threadId: is not of its form');
  must(e.run_id === null || isId('run', e.run_id), 'runId: is not of its form');
  must(e.feed !== 'platform' || e.project_id !== null, 'projectId: is missing on a Platform feed');
  must(
    e.project_id === null ? e.feed === 'direct' : e.project_kind === null || e.project_kind === e.feed,
    `feed: ${e.feed}, of a project that is ${e.project_kind ?? 'none'}`,
  );
  must(
    e.type !== 'operation.updated' || e.feed === 'direct',
    'feed: receipts of an app are published nowhere',
  );
  must(e.thread_id !== null || !OF_A_THREAD.test(e.type), 'threadId: is missing');
  must(
    e.work === null || e.work.thread === e.thread_id,
    'threadId: differs from that of the build or preview',
  );
  must(e.run_id !== null || !OF_A_RUN.test(e.type), 'runId: is missing');
  must(e.thread_project === null || e.thread_project === e.project_id, 'threadId: is of another project');
  for (const [types, id, name] of NAMED_BY)
    must(!types.test(e.type) || id(e) === e.data.id, `${name}: differs from data.id`);
  must(e.published_at === null || e.published_at >= e.occurred_at, 'publishedAt: is before occurredAt');
  return faults;
}

function faultsOfOrder(events: readonly Written[]): string[] {
  const published = events.filter((e) => e.sequence !== null);
  const gap = published.findIndex((e, i) => i > 0 && e.sequence !== published[i - 1]!.sequence! + 1);
  const seen = new Set(events.map((e) => e.event_id));
  return [
    ...(gap > 0 ? [`sequence: ${published[gap]!.sequence} follows ${published[gap - 1]!.sequence}`] : []),
    ...(seen.size < events.length ? ['id: an event stands in the log twice'] : []),
  ];
}

/** Throws, naming each type and field, unless every event of this database is as the document says. */
export async function auditLog(connection: ClientConfig): Promise<void> {
  const client = new Client(connection);
  await client.connect();
  try {
    const { rows } = await client.query<Written>(WRITTEN);
    const faults = new Set([
      ...rows.flatMap((e) => faultsOf(e).map((fault) => `${e.type}: ${fault}`)),
      ...faultsOfOrder(rows),
    ]);
    if (faults.size)
      throw new Error(`The log says what it must not:\n${[...faults].slice(0, 50).join('\n')}`);
  } finally {
    await client.end();
  }
}
