import type { Db } from '../db/database.ts';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { FileConfig } from '../config-file.ts';
import { dearestRates, pricesOf } from './prices.ts';
import { isReached, readThreadLimits, scopeIds } from './spending.ts';

/**
 * The refusal of a run, before it starts, whose limit leaves it nothing to spend; null where its model is
 * free or money is left. Only the configuration says that a model is free: one of an unknown price counts
 * as one that costs.
 */
export async function spendRefusal(
  db: Db | Tx['db'],
  run: Pick<RunRow, 'org_id' | 'project_id' | 'thread_id' | 'agent' | 'model_id'>,
  config?: Pick<FileConfig, 'prices' | 'providers'>,
): Promise<{ code: 'spend_limit_reached'; message: string } | null> {
  if (run.agent === 'scripted' || run.model_id === 'scripted' || (config && isFree(config, run.model_id)))
    return null;
  const now = await readThreadLimits(db, run.thread_id);
  if (!now?.limits.length) return null;
  const ids = scopeIds(run);
  const rows = await db
    .selectFrom('spending')
    .select(['scope_id', 'spent_micros'])
    .where((eb) =>
      eb.or(
        now.limits.map(({ scope }) =>
          eb.and([eb('scope_id', '=', ids[scope]), eb('period', '=', scope === 'thread' ? '' : now.period)]),
        ),
      ),
    )
    .execute();
  const reached = now.limits.find(
    ({ scope, micros }) => (rows.find((row) => row.scope_id === ids[scope])?.spent_micros ?? 0) >= micros,
  );
  return reached ? { code: 'spend_limit_reached', message: isReached(reached.scope) } : null;
}

function isFree(config: Pick<FileConfig, 'prices' | 'providers'>, modelId: string): boolean {
  const slash = modelId.indexOf('/');
  const prices = slash < 0 ? null : pricesOf(config, modelId.slice(0, slash), modelId.slice(slash + 1));
  return (
    prices !== null &&
    Object.values(dearestRates(prices, Number.MAX_SAFE_INTEGER)).every(
      (value) => typeof value !== 'number' || value === 0,
    )
  );
}
