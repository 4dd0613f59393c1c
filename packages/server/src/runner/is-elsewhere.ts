import { sql } from 'kysely';
import type { Context } from '../context.ts';

/** Added to a command's own time: by then another machine's runner has certainly ended it. */
const ELSEWHERE_SECONDS = 120;

/** A command that was started in a sandbox of its own. */
interface Started {
  runner_id: string | null;
  started_at: Date | null;
  timeout_seconds: number;
}

/** Whether its sandbox may live at another machine's runner, whose own workers have to find it. */
export async function isElsewhere(ctx: Context, of: Started): Promise<boolean> {
  const { id } = ctx.runnerStatus() ?? (await ctx.runner.status());
  if (of.runner_id?.split(':')[0] === id) return false;
  const { rows } = await sql<{
    over: boolean;
  }>`select ${of.started_at}::timestamptz + ${of.timeout_seconds + ELSEWHERE_SECONDS} * interval '1 second' < now() as over`.execute(
    ctx.db,
  );
  return !rows[0]!.over;
}
