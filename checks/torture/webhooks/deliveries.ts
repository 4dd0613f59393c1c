/** Checks the delivery rows in PostgreSQL: one for each event and subscription, ended or with a reason to wait. */
import type pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggedEvent } from '../lib/log-table.ts';
import type { Setup } from '../lib/part.ts';
import { matches } from './judge.ts';
import { KINDS } from './receivers.ts';
import type { KindName, Receiver } from './receivers.ts';

/** Longer than the longest wait between the attempts that a living receiver needs. */
const STANDSTILL_MS = 45_000;
const SHOWN = 5;

/** The errors that attempts to receivers of a kind may have. */
const ERRORS: Record<KindName, (string | null)[]> = {
  steady: [],
  failing: ['status', 'redirect', 'connection'],
  late: [],
  stalling: ['timeout'],
  away: ['connection'],
  silent: ['timeout'],
  closed: ['connection'],
  gone: ['status'],
};

/** Resolves when no delivery to living receivers is pending, or nothing changes any more; returns what is left. */
export async function untilDelivered(
  setup: Setup,
  table: pg.Client,
  living: readonly Receiver[],
): Promise<string[]> {
  const ids = living.map(({ subscriptionId }) => subscriptionId);
  for (let before = '', since = Date.now(); ; await sleep(100, undefined, { signal: setup.signal })) {
    const {
      rows: [left],
    } = await table.query<{ pending: number; sequence: number; end: number }>(
      `select c.sequence::float8 as sequence, s.last_sequence::float8 as end,
        (select count(*)::int from webhook_deliveries where status = 'pending' and subscription_id = any($1)) as pending
      from log_consumers c, log_state s where c.name = 'webhooks'`,
      [ids],
    );
    if (left!.pending === 0 && left!.sequence >= left!.end) return [];
    const now = JSON.stringify([left, living.reduce((sum, { arrivals }) => sum + arrivals.length, 0)]);
    if (now !== before) since = Date.now();
    else if (Date.now() - since > STANDSTILL_MS)
      return [`nothing was delivered for ${STANDSTILL_MS / 1000} s: ${JSON.stringify(left)}`];
    before = now;
  }
}

interface Row {
  subscription: string;
  event: string;
  status: 'pending' | 'succeeded' | 'failed';
  code: string | null;
  attempts: number;
  errors: (string | null)[];
}

export async function judgeDeliveries(
  table: pg.Client,
  log: readonly LoggedEvent[],
  receivers: readonly Receiver[],
): Promise<{ pending: number; failures: string[] }> {
  const { rows } = await table.query<Row>(
    `select subscription_id as subscription, event_id as event, status, error_code as code, attempt_count as attempts,
      array(select distinct a->>'error' from jsonb_array_elements(attempts) a where a->>'error' is not null) as errors
    from webhook_deliveries order by number`,
  );
  const failures: string[] = [];
  const events = new Map(log.map((event) => [event.id, event]));
  for (const receiver of receivers) {
    const own = rows.filter((row) => row.subscription === receiver.subscriptionId && events.has(row.event));
    const found = faultsOf(receiver, own, events);
    failures.push(...found.slice(0, SHOWN).map((why) => `${receiver.name}: ${why}`));
  }
  return { pending: rows.filter(({ status }) => status === 'pending').length, failures };
}

function faultsOf(
  receiver: Receiver,
  rows: readonly Row[],
  events: ReadonlyMap<string, LoggedEvent>,
): string[] {
  const due = new Set(
    [...events.values()].filter((event) => matches(receiver.subscription, event)).map(({ id }) => id),
  );
  const faults: string[] = [];
  const has = new Set<string>();
  for (const row of rows) {
    if (!due.has(row.event)) faults.push(`has a delivery of ${row.event}, which does not match`);
    if (has.has(row.event)) faults.push(`has two deliveries of ${row.event}`);
    has.add(row.event);
    const fault = faultOfRow(receiver, row);
    if (fault) faults.push(`the delivery of ${row.event} ${fault}: ${JSON.stringify(row)}`);
  }
  // Once it is disabled, events add none.
  if (receiver.kind !== 'gone')
    for (const id of due) if (!has.has(id)) faults.push(`has no delivery of ${id}`);
  return faults;
}

function faultOfRow({ kind, events }: Receiver, row: Row): string | null {
  if (row.errors.some((error) => !ERRORS[kind].includes(error))) return 'failed with an impossible error';
  if (row.status === 'succeeded') return events.has(row.event) ? null : 'succeeded, but nothing arrived';
  if (KINDS[kind].isLiving) return 'did not succeed';
  if (row.status === 'pending') return null;
  return kind === 'gone' && row.code === 'gone' ? null : 'ended without a reason';
}
