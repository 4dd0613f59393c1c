import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { runnerName } from './runner-id.ts';

/** Added to a command's own time: by then another machine's runner has certainly ended it. */
const ELSEWHERE_SECONDS = 120;

/** A command that was started in a sandbox of its own. */
interface Started {
  runner_id: string | null;
  started_at: Date | null;
  timeout_seconds: number;
}

/**
 * Whether its sandbox may live where this process cannot ask: at another machine's runner, whose own workers have to
 * find it, or at one of the fleet that is lost. That of a fleet is gone at the end of its lease.
 */
export async function isElsewhere(ctx: Context, of: Started): Promise<boolean> {
  if (ctx.fleet) return of.runner_id !== null && (await ctx.fleet.findNow(of.runner_id)).state() === 'lost';
  const own = ctx.runnerStatus() ?? (await ctx.runner.status());
  const known = [runnerName(ctx, own), ...ctx.formerRunners.list().map(({ id }) => id)];
  if (of.runner_id?.split(':')[0] === own.id || known.includes(of.runner_id ?? '')) return false;
  const { rows } = await sql<{
    over: boolean;
  }>`select ${of.started_at}::timestamptz + ${of.timeout_seconds + ELSEWHERE_SECONDS} * interval '1 second' < now() as over`.execute(
    ctx.db,
  );
  return !rows[0]!.over;
}
