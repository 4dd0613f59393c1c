/** The log as PostgreSQL has it, which every reader has to agree with. */
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Setup } from './part.ts';

export interface LoggedEvent {
  sequence: number;
  id: string;
  feed: 'platform' | 'direct';
  type: string;
  projectId: string | null;
  threadId: string | null;
  runId: string | null;
  data: Record<string, unknown>;
}

/** A connection of the harness's own; closed with the part. */
export async function openTable(setup: Setup, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, statement_timeout: 60_000 });
  client.on('error', () => {});
  await client.connect();
  setup.atEnd(() => client.end());
  return client;
}

/** Every event, in the order of its sequence. */
export async function readLog(client: pg.Client): Promise<LoggedEvent[]> {
  const { rows } = await client.query<LoggedEvent>(
    'select sequence::float8 as sequence, event_id as id, feed, type, project_id as "projectId", thread_id as "threadId", run_id as "runId", data from events order by sequence',
  );
  return rows;
}

/** The log's published end. */
export async function lastSequence(client: pg.Client): Promise<number> {
  const {
    rows: [state],
  } = await client.query<{ last: number }>('select last_sequence::float8 as last from log_state');
  return state!.last;
}

const SETTLE_LIMIT_MS = 90_000;

/**
 * Resolves when nothing is left to be published, done or settled. Throws, saying what is left, after a
 * minute and a half.
 */
export async function settled(client: pg.Client, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + SETTLE_LIMIT_MS; ; await sleep(100, undefined, { signal })) {
    const {
      rows: [left],
    } = await client.query<{ outbox: number; jobs: number; receipts: number }>(`
      select (select count(*) from outbox)::int as outbox, (select count(*) from jobs where run_at < now() + interval '1 minute')::int as jobs, (select count(*) from operations where status in ('pending', 'uncertain'))::int as receipts`);
    if (left!.outbox + left!.jobs + left!.receipts === 0) return;
    if (Date.now() > deadline)
      throw new Error(
        `After ${SETTLE_LIMIT_MS / 1000} s there are still ${left!.outbox} events to be published, ${left!.jobs} jobs to be done and ${left!.receipts} receipts to be settled`,
      );
  }
}
