import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Micros, Nullable, Page, Text } from '../http/schemas.ts';

const Price = { ...Micros, description: 'Micro-units of USD for a million tokens.' } as typeof Micros;
const Model = Type.Object({
  id: Text('scripted', { description: 'A `modelId`; `<provider>/*` stands for every model of that provider.' }),
  provider: Text('built-in'),
  prices: Nullable(Type.Object({ inputMicros: Price, outputMicros: Price, cachedMicros: Price }, { description: "null: the provider's own, not known here. A model without a known price is refused where a spend limit holds." })),
});

const SCRIPTED = { id: 'scripted', provider: 'built-in', prices: { inputMicros: 0, outputMicros: 0, cachedMicros: 0 } };

export const listModels = read({
  name: 'usage.listModels',
  summary: 'List the models that threads may use',
  description: '`scripted` is built in and costs nothing; further providers are there once the organization has set a key of theirs.',
  access: { permissions: ['modelKey:read'] },
  query: ListQuery(),
  responses: { 200: Page('models', Model) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(ctx.secretKey, query, ['models', principal.orgId], async (after, limit) => {
      const keys = await ctx.db.selectFrom('model_keys').select('provider').where('org_id', '=', principal.orgId).orderBy('provider').execute();
      const models = [SCRIPTED, ...keys.map(({ provider }) => ({ id: `${provider}/*`, provider, prices: null }))];
      const from = after === null ? 0 : models.findIndex((model) => model.id === after) + 1;
      return models.slice(from, from + limit);
    }, (model) => model.id);
    return { status: 200, body: { ok: true, models: rows, ...rest } };
  },
});
