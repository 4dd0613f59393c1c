/** The active run that calls, known by its connection and token. */
import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';
import { preparedAs } from '../db/prepared.ts';
import type { RunRow } from '../db/schema.ts';
import { hasToken, isCalling } from '../runs/index.ts';
import { runOfSocket } from './accept.ts';
import { GatewayError } from './wire-errors.ts';

export type CallingRun = Pick<RunRow, 'id' | 'org_id' | 'project_id' | 'thread_id' | 'model_id' | 'prices'>;

/**
 * The run whose connection and token this is, and its organization's key of `provider`, still sealed.
 * Throws a GatewayError of 401 or 403.
 */
export async function callerOf(
  ctx: Pick<Context, 'db' | 'secretKey'>,
  req: IncomingMessage,
  provider: string,
): Promise<{ run: CallingRun; keySealed: Buffer | null }> {
  const runId = runOfSocket(req.socket);
  if (runId === undefined || !hasToken(ctx.secretKey, runId, req.headers))
    throw new GatewayError(401, "The token is not this run's.");
  const {
    rows: [row],
  } = await ctx.db.executeQuery(
    preparedAs(
      'calling_run',
      ctx.db
        .selectFrom('runs as r')
        .leftJoin('model_keys as k', (join) =>
          join.onRef('k.org_id', '=', 'r.org_id').on('k.provider', '=', provider),
        )
        .select([
          'r.id',
          'r.org_id',
          'r.project_id',
          'r.thread_id',
          'r.model_id',
          'r.prices',
          'r.status',
          'r.cancel_requested_at',
          'k.key_sealed',
        ])
        .where('r.id', '=', runId)
        .compile(),
    ),
  );
  if (!row) throw new GatewayError(401, "The token is not this run's.");
  if (!isCalling(row)) throw inactive();
  const { status: _, cancel_requested_at: __, key_sealed: keySealed, ...run } = row;
  return { run, keySealed };
}

export const inactive = () => new GatewayError(403, 'The run has ended.');
