/**
 * What the model gateway knows about a run's calls overrides its agent's account of the turn: agents end a
 * turn as completed whose last words were a provider's refusal.
 */
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { ModelFailure, RunRow } from '../db/schema.ts';
import type { RunError } from './schemas.ts';

/** So many failed calls in a row end a run: an agent may retry for an hour. */
const FAILURES = 3;

export const isHopeless = (failure: ModelFailure | null): boolean =>
  failure !== null && failure.count >= FAILURES;

/** The end of a turn, with an error code of runs. */
export type JudgedEnd = Omit<TaskEnd, 'error'> & { error: { code: RunError; message: string } | null };

/** Only the end of a setup says that a layer is too large. */
const endOfTurn = ({ error, ...end }: TaskEnd): JudgedEnd => ({
  ...end,
  error: error === null || error.code === 'layer_too_large' ? null : { ...error, code: error.code },
});

/** At a host its program ended, with all that it had started. */
const atItsHost = (end: JudgedEnd): JudgedEnd =>
  end.error?.code === 'sandbox_lost' ? { ...end, error: { ...end.error, code: 'host_lost' } } : end;

/** The turn's end as the run's: failed when its last model call failed, unless it was stopped or lost. */
export async function judgeEnd(ctx: Context, run: RunRow, end: TaskEnd): Promise<JudgedEnd> {
  if (ctx.host) return atItsHost(endOfTurn(end));
  if (
    run.agent === 'scripted' ||
    end.error?.code === 'sandbox_lost' ||
    end.error?.code === 'not_configured' ||
    end.timedOut
  )
    return endOfTurn(end);
  const now = await ctx.db
    .selectFrom('runs')
    .select(['model_failure', 'cancel_requested_at'])
    .where('id', '=', run.id)
    .executeTakeFirst();
  if (!now?.model_failure || now.cancel_requested_at) return endOfTurn(end);
  const { code, message } = now.model_failure;
  return { ...end, outcome: 'failed', error: { code, message } };
}
