/**
 * Preloaded into the service with `--import`: adds a second PATCH of an app, which does the same without a
 * receipt: same authentication, rate limit, schema, transaction, state and event, by the same code; no
 * fingerprint, no key, no row in `operations`. The product has no such route.
 */
import { isMainThread } from 'node:worker_threads';
import { routes } from '../../packages/server/src/app.ts';
import { transaction } from '../../packages/server/src/db/transaction.ts';

if (isMainThread) {
  const receipted = routes.find(({ operationId }) => operationId === 'projects.updateApp')!;
  const { operation } = receipted;
  if (operation.kind !== 'write') throw new Error('an update of an app is one transaction');
  routes.push({
    ...receipted,
    path: receipted.path.replace('/apps/', '/apps-without-receipt/'),
    operationId: 'bench.updateAppWithoutReceipt',
    operation: {
      ...operation,
      kind: 'plain',
      handle: (call) =>
        transaction(call.ctx, (tx) =>
          operation.handle(tx, call, { operationId: '', publish() {} }, undefined),
        ),
    },
  });
}
