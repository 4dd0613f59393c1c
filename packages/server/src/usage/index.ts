export { keepHoursClosed } from './close-hours.ts';
export { openModelKey, unsealModelKey } from './model-keys.ts';
export { leftOfLimit } from './left-of-limit.ts';
export { costOf, dearestRates, micros, pricesOf } from './prices.ts';
export type { ModelPrices, Rates, TokenUsage } from './prices.ts';
export { deleteModelKeysOf, sealedModelKeys } from './store.ts';
export { spendRefusal } from './spend-refusal.ts';
export { isReached, leavesTooLittle, readLimits, scopeIds, SCOPES, unpriced } from './spending.ts';
export type { Limit, Scoped } from './spending.ts';
