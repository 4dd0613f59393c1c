import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { ModelKey, modelKeyView, providerOf, sealModelKey } from './model-keys.ts';
import { saveModelKey } from './store.ts';

/** What a header can carry: a line's end that was pasted along would fail each call. */
const Key = Type.String({ minLength: 1, maxLength: 2000, pattern: '^[!-~]+$', examples: ['sk-example'] });

export const setModelKey = write({
  name: 'usage.setModelKey',
  summary: "Set the organization's key of a model provider",
  description: 'Replaces the previous key. The key is stored encrypted and never returned.',
  access: { session: 'admin' },
  body: Body({ key: Key }),
  responses: { 200: Ok({ modelKey: ModelKey }) },
  async handle(tx, { ctx, principal, params, body, address }) {
    const provider = providerOf(params);
    const sealed = sealModelKey(ctx.secretKey, principal.orgId, provider, body.key);
    const row = await saveModelKey(tx, { orgId: principal.orgId, provider, sealed });
    await audit(tx, { principal, address }, 'model_key.set', provider);
    return { status: 200, body: { ok: true, modelKey: modelKeyView(row) } };
  },
});
