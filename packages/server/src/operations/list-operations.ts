import type { Db } from '../db/database.ts';
import type { OperationRow } from '../db/schema.ts';
import { idBytes } from '../db/search.ts';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import type { Principal } from '../http/principal.ts';
import { ListQuery, Page, Text } from '../http/schemas.ts';
import { mayReadReceipt, seesReceipt } from './policy.ts';
import { OperationView, operationView } from './view.ts';

const ID = idBytes('id');
/** So many receipts that the caller may not inspect cost one statement, however short its page is. */
const READ_AT_ONCE = 100;

/** Newest first, after `after`. Each actor has at most one receipt for a key. */
async function findReadable(
  db: Db,
  { principal, key }: { principal: Principal; key: string },
  after: string | null,
  limit: number,
): Promise<OperationRow[]> {
  const found: OperationRow[] = [];
  const count = Math.max(limit, READ_AT_ONCE);
  for (let last = after; ;) {
    let query = db
      .selectFrom('operations')
      .selectAll()
      .where('org_id', '=', principal.orgId)
      .where('idempotency_key', '=', key);
    if (last !== null) query = query.where(ID, '<', last);
    const rows = await query.orderBy(ID, 'desc').limit(count).execute();
    found.push(...rows.filter((row) => seesReceipt(principal, row) && mayReadReceipt(principal, row)));
    if (found.length >= limit || rows.length < count) return found.slice(0, limit);
    last = rows.at(-1)!.id;
  }
}

export const listOperations = read({
  name: 'operations.listOperations',
  summary: 'Find the receipts of an idempotency key',
  description:
    "The receipts of all actors of the caller's organization that have used the key, newest first. Omits receipts that the caller may not read.",
  access: 'authenticated',
  query: ListQuery({
    idempotencyKey: Text('7d1f5a52-0b0e-4c11-8c67-0f6d5f0a3c11', { minLength: 1, maxLength: 128 }),
  }),
  responses: { 200: Page('operations', OperationView) },
  async handle({ ctx, principal, query }) {
    const { idempotencyKey: key } = query;
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['operations', principal.orgId, key] },
      (after, limit) => findReadable(ctx.db, { principal, key }, after, limit),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, operations: rows.map(operationView), ...rest } };
  },
});
