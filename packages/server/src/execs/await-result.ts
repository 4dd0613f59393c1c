import type { Context } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import { waitFor } from '../http/wait-for.ts';

/** What queueing, preparing and capturing may take on top of the command's own time. */
const SETTLING_SECONDS = 120;

/** A command as its caller waits for it. */
export interface SentExec {
  operationId: string;
  timeoutSeconds: number;
}

/** The answer that the job stored in the receipt. */
export interface Result {
  status: number;
  text: string;
}

/** How long the caller of a command waits at most, in seconds. */
export const waitSecondsOf = ({ timeoutSeconds }: SentExec): number => timeoutSeconds + SETTLING_SECONDS;

export async function isPending(ctx: Context, operationId: string): Promise<boolean> {
  const operation = await ctx.db
    .selectFrom('operations')
    .select('status')
    .where('id', '=', operationId)
    .executeTakeFirst();
  return operation?.status === 'pending';
}

/** Waits for the job to settle the receipt. Throws 409 `request_in_progress` where that takes too long. */
export async function awaitResult(ctx: Context, exec: SentExec, signal: AbortSignal): Promise<Result> {
  const { operationId } = exec;
  const load = () =>
    ctx.db
      .selectFrom('operations')
      .select(['status', 'response', 'response_status'])
      .where('id', '=', operationId)
      .executeTakeFirst();
  const row = await waitFor(
    {
      bus: ctx.bus,
      on: { channel: 'operations', id: operationId },
      waitSeconds: waitSecondsOf(exec),
      signal,
    },
    load,
    (r) => r?.status !== 'pending',
  );
  if (!row || row.status === 'pending')
    throw new ApiError('request_in_progress', 'The command still runs. Read its operation for the result.', {
      details: { operationId },
    });
  return { status: row.response_status!, text: row.response! };
}
