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
  const { write, ...operation } = receipted.operation;
  routes.push({
    ...receipted,
    path: receipted.path.replace('/apps/', '/apps-without-receipt/'),
    operationId: 'bench.updateAppWithoutReceipt',
    operation: {
      ...operation,
      kind: 'plain',
      read: (call) =>
        transaction(call.ctx, (tx) => write!(tx, call, { operationId: '', publish() {} }, undefined)),
    },
  });
}
