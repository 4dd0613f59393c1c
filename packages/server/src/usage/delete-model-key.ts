import { audit } from '../audit/index.ts';
import { notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { ModelKey, modelKeyView, providerOf } from './model-keys.ts';
import { removeModelKey } from './store.ts';

export const deleteModelKey = write({
  name: 'usage.deleteModelKey',
  summary: "Delete the organization's key of a model provider",
  access: { session: 'admin' },
  responses: { 200: Ok({ modelKey: ModelKey }) },
  async handle(tx, { principal, params, address }) {
    const provider = providerOf(params);
    const row = await removeModelKey(tx, { orgId: principal.orgId, provider });
    if (!row) throw notFound('model_key');
    await audit(tx, { principal, address }, 'model_key.deleted', provider);
    return { status: 200, body: { ok: true, modelKey: modelKeyView(row) } };
  },
});
