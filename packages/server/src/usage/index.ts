export { openModelKey, unsealModelKey } from './model-keys.ts';
export { costOf, dearestRates, micros, pricesOf } from './prices.ts';
export type { ModelPrices, Rates, TokenUsage } from './prices.ts';
export { deleteModelKeysOf } from './store.ts';
