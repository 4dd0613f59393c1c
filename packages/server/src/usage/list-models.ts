import Type from 'typebox';
import type { Context } from '../context.ts';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Micros, Nullable, Page, Text } from '../http/schemas.ts';
import { pricedModels, pricesOf } from './prices.ts';

const Price = { ...Micros, description: 'Micro-units of USD for a million tokens.' } as typeof Micros;
const Model = Type.Object({
  id: Text('scripted', {
    description: 'A `modelId`; `<provider>/*` means every model of that provider.',
  }),
  provider: Text('built-in'),
  prices: Nullable(
    Type.Object(
      { inputMicros: Price, outputMicros: Price, cachedMicros: Price },
      {
        description:
          'null: the price of the provider, unknown to the service. A model without a known price is refused under a spend limit.',
      },
    ),
  ),
});

const SCRIPTED = {
  id: 'scripted',
  provider: 'built-in',
  prices: { inputMicros: 0, outputMicros: 0, cachedMicros: 0 },
};

export const listModels = read({
  name: 'usage.listModels',
  summary: 'List the models that threads may use',
  description:
    "`scripted` is built in and costs nothing. Then, by id, for each provider that needs no key or whose key the organization has set: `<provider>/*`, and those of its models whose price is known, at most 200. A provider's other models may be used as well.",
  access: { permissions: ['modelKey:read'] },
  query: ListQuery(),
  responses: { 200: Page('models', Model) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['models', principal.orgId] },
      async (after, limit) => {
        const ids = await usableModels(ctx, principal.orgId);
        const behind =
          after === null ? [SCRIPTED.id, ...ids] : ids.filter((id) => after === SCRIPTED.id || id > after);
        return behind.slice(0, limit).map((id) => (id === SCRIPTED.id ? SCRIPTED : viewOf(ctx, id)));
      },
      (model) => model.id,
    );
    return { status: 200, body: { ok: true, models: rows, ...rest } };
  },
});

/** In the order of their code units: a cursor stays in place when a provider comes or goes. */
async function usableModels({ db, config }: Context, orgId: string): Promise<string[]> {
  const keys = await db.selectFrom('model_keys').select('provider').where('org_id', '=', orgId).execute();
  const open = Object.entries(config.providers)
    .filter(([, entry]) => entry.key === 'none')
    .map(([name]) => name);
  const providers = [...new Set([...open, ...keys.map((key) => key.provider)])];
  return [
    ...new Set(providers.flatMap((provider) => [`${provider}/*`, ...pricedModels(config, provider)])),
  ].sort();
}

function viewOf({ config }: Context, id: string) {
  const [provider, model] = [id.slice(0, id.indexOf('/')), id.slice(id.indexOf('/') + 1)];
  const prices = model === '*' ? null : pricesOf(config, provider, model);
  return {
    id,
    provider,
    prices: prices && {
      inputMicros: prices.inputMicros,
      outputMicros: prices.outputMicros,
      cachedMicros: prices.cachedMicros,
    },
  };
}
