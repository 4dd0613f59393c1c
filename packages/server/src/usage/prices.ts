/**
 * What a model costs. The operator's prices go before those of the public price file that this version
 * brings along (@pydantic/genai-prices). All prices are micro-units of USD for a million tokens, whole
 * numbers.
 */
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { ModelPrice } from '@pydantic/genai-prices';
import type { FileConfig } from '../config-file.ts';
import type { Prices } from '../db/schema.ts';
import { matches } from '../patterns.ts';

export interface Rates extends Prices {
  /** Input written into the cache for an hour; what is kept for five minutes has `cacheWriteMicros`. */
  cacheWriteLongMicros: number;
}

/** The base rates, and those of the whole call once its input has more than `above` tokens, rising. */
export interface ModelPrices extends Rates {
  tiers: (Rates & { above: number })[];
}

/**
 * Tokens of one call. `inputTokens` is all input, whether read from a cache, written into one, or neither.
 */
export interface TokenUsage {
  inputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  cacheWriteLongTokens: number;
  outputTokens: number;
}

type PriceConfig = Pick<FileConfig, 'prices' | 'providers'>;

/**
 * Prices by `<provider>/<model>`: the operator's entry of just this model, else the first pattern that
 * fits, else the price file's; null where none is known.
 */
export function pricesOf(
  { prices, providers }: PriceConfig,
  provider: string,
  model: string,
): ModelPrices | null {
  const id = `${provider}/${model}`;
  const own = Object.hasOwn(prices, id)
    ? prices[id]!
    : Object.entries(prices).find(([pattern]) => pattern.includes('*') && matches(pattern, id))?.[1];
  if (own) return { ...own, cacheWriteLongMicros: own.cacheWriteMicros, tiers: [] };
  const known = knownProvider(
    provider,
    Object.hasOwn(providers, provider) ? providers[provider]!.baseUrl : null,
  );
  return known ? knownPrices(known, model) : null;
}

export const knownProvider = (name: string, baseUrl: string | null) =>
  findProvider({ providerId: name }) ??
  (baseUrl === null ? undefined : findProvider({ providerApiUrl: baseUrl }));

/**
 * A model of the price file. Where its price depends on the time of the day, the dearest of the day: a call
 * may begin in one and end in another. A model without both an input and an output price (embeddings,
 * speech) has none here.
 */
export function knownPrices(
  provider: NonNullable<ReturnType<typeof knownProvider>>,
  model: string,
  now = new Date(),
): ModelPrices | null {
  const at = (timestamp: Date) => calcPrice({}, model, { provider, timestamp });
  const found = at(now);
  if (!found) return null;
  const isByTime =
    Array.isArray(found.model.prices) &&
    found.model.prices.some(({ constraint }) => constraint?.type === 'time_of_date');
  const variants = isByTime
    ? Array.from(
        { length: 48 },
        (_, half) =>
          at(new Date(Math.floor(now.getTime() / 86_400_000) * 86_400_000 + half * 1_800_000 + 60_000))
            ?.model_price,
      )
    : [found.model_price];
  const all = variants.map((prices) => (prices ? fromFile(prices) : null));
  return all.includes(null) ? null : (all as ModelPrices[]).reduce(dearer);
}

function fromFile(prices: ModelPrice): ModelPrices | null {
  if (prices.input_mtok === undefined || prices.output_mtok === undefined) return null;
  const starts = new Set(
    Object.values(prices).flatMap((price) =>
      typeof price === 'object' ? price.tiers.map((tier) => tier.start) : [],
    ),
  );
  const tiers = [...starts]
    .sort((a, b) => a - b)
    .map((above) => ({ above: Math.max(0, above - 1), ...ratesFor(prices, above) }));
  return { ...ratesFor(prices, -1), tiers };
}

/**
 * Rates in the tier that starts at `start`. Whether a call of exactly so many tokens is in it differs
 * between providers: here it is. Thinking, images and the like may have prices of their own: the dearest
 * one counts for all output.
 */
function ratesFor(prices: ModelPrice, start: number): Rates {
  const micros = (key: string): number | undefined => {
    const price = prices[key];
    if (price === undefined) return undefined;
    const usd =
      typeof price === 'number'
        ? price
        : price.tiers.reduce((found, tier) => (tier.start <= start ? tier.price : found), price.base);
    // A price such as 0.1 is no binary fraction: rounding to a millionth of a micro-unit first keeps
    // 100,000 from becoming 100,001.
    return Math.ceil(Number((usd * 1e6).toFixed(6)));
  };
  const inputMicros = micros('input_mtok')!;
  const outputs = Object.keys(prices)
    .filter((key) => /^output_(\w+_)?mtok$/.test(key))
    .map((key) => micros(key) ?? 0);
  const cacheWriteMicros = micros('cache_write_mtok') ?? inputMicros;
  return {
    inputMicros,
    outputMicros: Math.max(...outputs),
    cachedMicros: micros('cache_read_mtok') ?? inputMicros,
    cacheWriteMicros,
    // Anthropic's rule for models without an entry: twice the input's price.
    cacheWriteLongMicros:
      micros('cache_write_1h_mtok') ??
      Math.max(cacheWriteMicros, cacheWriteMicros > inputMicros ? 2 * inputMicros : 0),
  };
}

const FIELDS = [
  'inputMicros',
  'outputMicros',
  'cachedMicros',
  'cacheWriteMicros',
  'cacheWriteLongMicros',
] as const;
const dearerRates = <A extends Rates>(a: A, b: Rates): A => ({
  ...a,
  ...Object.fromEntries(FIELDS.map((field) => [field, Math.max(a[field], b[field])])),
});

/**
 * Variants of one model differ in rates, not in where tiers begin; where they do, each tier takes the
 * dearest rates of both.
 */
function dearer(a: ModelPrices, b: ModelPrices): ModelPrices {
  const aboves = [...new Set([...a.tiers, ...b.tiers].map((tier) => tier.above))].sort((x, y) => x - y);
  return {
    ...dearerRates(a, b),
    tiers: aboves.map((above) => ({ ...dearerRates(tierOf(a, above + 1), tierOf(b, above + 1)), above })),
  };
}

const tierOf = (prices: ModelPrices, inputTokens: number): Rates =>
  prices.tiers.findLast((tier) => inputTokens > tier.above) ?? prices;

/** The dearest rates that a call of at most so many input tokens can have, field by field. */
export const dearestRates = (prices: ModelPrices, inputTokens: number): Rates =>
  prices.tiers.filter((tier) => inputTokens > tier.above).reduce<Rates>(dearerRates, prices);

/** Cost in micro-units, rounded up once per call. BigInt: tokens times prices pass 2^53. */
export function costOf(prices: ModelPrices, usage: TokenUsage): number {
  const rates = tierOf(prices, usage.inputTokens);
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens, outputTokens } = usage;
  const plain = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens - cacheWriteLongTokens);
  return micros([
    [plain, rates.inputMicros],
    [cachedTokens, rates.cachedMicros],
    [cacheWriteTokens, rates.cacheWriteMicros],
    [cacheWriteLongTokens, rates.cacheWriteLongMicros],
    [outputTokens, rates.outputMicros],
  ]);
}

/** Σ tokens × price / 10^6, rounded up, at most 2^53 - 1. */
export function micros(parts: [tokens: number, micros: number][]): number {
  const sum = parts.reduce((total, [tokens, price]) => total + BigInt(tokens) * BigInt(price), 0n);
  const cost = (sum + 999_999n) / 1_000_000n;
  return cost > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(cost);
}

/**
 * At most so many entries of one provider are listed: price files know hundreds, `<provider>/*` stands for
 * them all.
 */
const MOST_LISTED = 200;

/**
 * The price file's part for a provider is always the same, and looking through hundreds of models takes
 * some 50 ms.
 */
const listed = new Map<string, string[]>();

/** Ids (`<provider>/<model>`) of a provider's models that have a price here, the operator's first. */
export function pricedModels({ prices, providers }: PriceConfig, provider: string): string[] {
  const baseUrl = Object.hasOwn(providers, provider) ? providers[provider]!.baseUrl : null;
  const place = `${provider} ${baseUrl}`;
  const known = listed.get(place) ?? listKnown(provider, baseUrl);
  if (listed.size < 100) listed.set(place, known);
  const own = Object.keys(prices).filter((id) => !id.includes('*') && id.startsWith(`${provider}/`));
  return [...new Set([...own, ...known])].slice(0, MOST_LISTED);
}

function listKnown(name: string, baseUrl: string | null): string[] {
  const provider = knownProvider(name, baseUrl);
  const ids: string[] = [];
  for (const model of provider?.models ?? []) {
    if (ids.length === MOST_LISTED) break;
    const id = `${name}/${model.id}`;
    if (!model.deprecated && id.length <= 128 && knownPrices(provider!, model.id) !== null) ids.push(id);
  }
  return ids;
}
