/**
 * What workers do for their fleet: judge runners by their silence, have workspaces leave those that drain, and give
 * free places to what waits for them. Safe in every worker at once.
 */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import { wakeFirstWaiting } from '../jobs/store.ts';
import { countRoom, deleteGone, findDraining, judgeSilent, recountPlaces, ROOM } from '../runner/store.ts';
import { endIdleTimes } from '../threads/index.ts';

const JUDGE_MS = 1_000;
/**
 * Nobody is judged by silence before: while the database was away, or after a standby took its place, no report was
 * recorded. Whoever can report has done so by then.
 */
export const SEEN_MS = 10_000;
const DRAIN_MS = 1_000;
const ROOM_MS = 2_000;
const RECOUNT_MS = 10_000;
const DELETE_MS = 10 * 60_000;

export function watchFleet(ctx: Context, pool: string): void {
  const { db, log, shutdown } = ctx;
  const judge = async () => {
    const server = ctx.bus.seenServer();
    if (!server || server.seenMs < SEEN_MS) return;
    for (const { boot_id: id, name, state } of await judgeSilent(db, server.identity))
      log.warn({ runner: id, name, state }, 'a runner is silent');
  };
  const drain = async () => {
    for (const bootId of await findDraining(db)) await endIdleTimes(db, bootId);
  };
  const giveRoom = async () => {
    const room = await countRoom(db, pool);
    if (room > 0) await transaction(ctx, (tx) => wakeFirstWaiting(tx, ROOM, room));
  };
  const rounds: [number, () => Promise<unknown>][] = [
    [JUDGE_MS, judge],
    [DRAIN_MS, drain],
    [ROOM_MS, giveRoom],
    [RECOUNT_MS, () => transaction(ctx, recountPlaces)],
    [DELETE_MS, () => deleteGone(db)],
  ];
  for (const [ms, round] of rounds)
    every(ms, round, {
      until: shutdown,
      onFailure: (err) => log.debug({ err }, 'the fleet was not looked after'),
    });
}
