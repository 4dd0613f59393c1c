import { authorize } from '../http/authorize.ts';
import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { mayReadReceipt, seesReceipt } from './policy.ts';
import { OperationView, operationView } from './view.ts';

export const getOperation = read({
  name: 'operations.getOperation',
  summary: 'Inspect the receipt of an idempotent write',
  access: 'authenticated',
  responses: { 200: Ok({ operation: OperationView }) },
  async handle({ ctx, principal, params }) {
    const row = await ctx.db
      .selectFrom('operations')
      .selectAll()
      .where('org_id', '=', principal.orgId)
      .where('id', '=', params.operationId!)
      .executeTakeFirst();
    if (!row || !seesReceipt(principal, row)) throw notFound('operation');
    if (!mayReadReceipt(principal, row)) {
      const { permissions } = row;
      authorize(permissions.length ? { permissions } : { session: 'admin' }, principal, 'direct', params);
    }
    return { status: 200, body: { ok: true, operation: operationView(row) } };
  },
});
