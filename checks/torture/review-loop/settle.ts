/**
 * The end of the storm: CI is green on each head, later all comments are resolved, and a person enables each stopped
 * loop again. Each loop must then reach its final status by itself.
 */
import type pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { sync } from '../scm/pulls.ts';
import type { World } from '../scm/world.ts';
import { CONTEXTS, enable, pullNow } from './people.ts';
import type { Reviewed } from './people.ts';

const REASONS = [
  'pass_limit',
  'no_change',
  'stopped',
  'fix_failed',
  'not_configured',
  'spend_limit',
  'merge_conflict',
  'unresolved_comments',
  'merge_refused',
  'checks_timeout',
  'checks_unavailable',
  'diverged',
  'push_failed',
];
const SETTLE_LIMIT_MS = 300_000;
const REPLIES_LIMIT_MS = 180_000;

export interface Ending {
  world: World;
  table: pg.Client;
  /** How often a loop was blocked or in error, by reason. */
  reasons: Map<string, number>;
}

/** Makes the checks green and waits until the loop is merged, ready or blocked by open comments, and no point is unread. */
export async function settleGreen(ending: Ending, one: Reviewed): Promise<void> {
  await settle(ending, one, async (pull) => {
    if (pull.state === 'merged') return true;
    const { status, blockedReason } = pull.reviewLoop;
    return (
      (status === 'ready' || blockedReason === 'unresolved_comments') &&
      (await untold(ending, one)).length === 0
    );
  });
}

/** Resolves all comments and waits until the loop is merged, or ready without `autoMerge`. */
export async function settleResolved(ending: Ending, one: Reviewed): Promise<void> {
  for (const { id, isResolved } of await one.side.threads(one.number))
    if (!isResolved) await one.side.resolve(one.number, id);
  await settle(ending, one, async (pull) =>
    one.autoMerge
      ? pull.state === 'merged'
      : pull.reviewLoop.status === 'ready' && pull.scmSummary.unresolvedCount === 0,
  );
}

/** Unresolved review threads by people with write access that are in no pass. */
async function untold({ table }: Ending, one: Reviewed): Promise<string[]> {
  const { rows } = await table.query<{ id: string }>(
    'select p.review_thread_id as id from review_points p join review_loops l on l.id = p.loop_id where l.pull_request_id = $1',
    [one.id],
  );
  const told = new Set(rows.map(({ id }) => id));
  return (await one.side.threads(one.number))
    .filter(({ id, isResolved, canWrite }) => !isResolved && canWrite && !told.has(id))
    .map(({ id }) => id);
}

async function settle(
  { world, reasons }: Ending,
  one: Reviewed,
  // oxlint-disable-next-line typescript/no-explicit-any -- as answered; a wrong name fails the part
  isThere: (pull: any) => Promise<boolean>,
): Promise<void> {
  const green = new Set<string>();
  let counted = 0;
  let pull = await pullNow(world, one);
  for (const deadline = Date.now() + SETTLE_LIMIT_MS; Date.now() < deadline;) {
    if (pull.state === 'open' && !green.has(pull.headSha)) {
      for (const context of CONTEXTS) await one.side.report(pull.headSha, context, 'success');
      green.add(pull.headSha);
    }
    if (await isThere(pull)) return;
    if (pull.version !== counted) await help({ world, reasons }, one, pull);
    counted = pull.version;
    pull = await pullNow(world, one, pull.version);
  }
  world.failures.push(
    `${one.id} did not settle: ${JSON.stringify({ ...pull, title: undefined, body: undefined })}`,
  );
}

// oxlint-disable-next-line typescript/no-explicit-any -- as answered; a wrong name fails the part
async function help({ world, reasons }: Omit<Ending, 'table'>, one: Reviewed, pull: any): Promise<void> {
  const { status, blockedReason, lastErrorCode, waitUntil } = pull.reviewLoop;
  const key = `${one.id}-${pull.version}`;
  if (status === 'blocked' || status === 'error') {
    const reason: string | null = blockedReason ?? lastErrorCode;
    if (reason === null || (status === 'blocked' && !REASONS.includes(reason)))
      world.failures.push(`${one.id} is ${status} for an unknown reason: ${reason}`);
    reasons.set(reason ?? 'none', (reasons.get(reason ?? 'none') ?? 0) + 1);
    // A loop that waits for comments to be resolved continues by itself.
    if (reason !== 'unresolved_comments') await enable(world, one, key);
    return;
  }
  // The provider failed and is retried later; a person who does not want to wait syncs.
  if (waitUntil !== null && pull.reviewLoop.operationalRetryCount > 0)
    await sync(world, one.thread, { id: one.id, key });
}

/** Waits until all due replies are sent. */
export async function repliesMade({ world, table }: Ending): Promise<void> {
  for (const deadline = Date.now() + REPLIES_LIMIT_MS; ;) {
    const { rowCount } = await table.query(
      'select from review_points where reply_sha is not null and replied_at is null',
    );
    if (!rowCount) return;
    if (Date.now() > deadline) {
      world.failures.push(`${rowCount} replies were not sent`);
      return;
    }
    await sleep(200, undefined, { signal: world.setup.signal });
  }
}
