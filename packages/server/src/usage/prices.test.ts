import { describe, expect, test } from 'vitest';
import type { FileConfig, PriceEntry } from '../config-file.ts';
import {
  costOf,
  dearestRates,
  knownPrices,
  knownProvider,
  micros,
  pricedModels,
  pricesOf,
} from './prices.ts';
import type { ModelPrices } from './prices.ts';

const price = (inputMicros: number): PriceEntry => ({
  inputMicros,
  outputMicros: 2,
  cachedMicros: 3,
  cacheWriteMicros: 4,
});
const config = (
  prices: FileConfig['prices'],
  baseUrl = 'http://127.0.0.1:9/v1',
): Pick<FileConfig, 'prices' | 'providers'> => ({
  prices,
  providers: { acme: { baseUrl, wires: ['anthropic'], key: 'none' } },
});
const tokens = (
  inputTokens: number,
  outputTokens: number,
  cachedTokens = 0,
  cacheWriteTokens = 0,
  cacheWriteLongTokens = 0,
) => ({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens });

describe('pricesOf', () => {
  test("the operator's entry of just this model goes before a pattern, and both before the price file", () => {
    const all = config({ 'acme/*': price(1), 'acme/claude-sonnet-4-5': price(9), 'anthropic/*': price(5) });
    expect([
      pricesOf(all, 'acme', 'claude-sonnet-4-5')?.inputMicros,
      pricesOf(all, 'acme', 'x')?.inputMicros,
      pricesOf(all, 'anthropic', 'claude-sonnet-4-5')?.inputMicros,
    ]).toEqual([9, 1, 5]);
    expect(pricesOf(config({}), 'anthropic', 'claude-sonnet-4-5')).toMatchObject({
      inputMicros: 3_000_000,
      outputMicros: 15_000_000,
      cachedMicros: 300_000,
      cacheWriteMicros: 3_750_000,
      cacheWriteLongMicros: 6_000_000,
      tiers: [{ above: 199_999, inputMicros: 6_000_000 }],
    });
  });

  test('a provider of another name is known by its address; an unknown one, or an unknown model, has no price', () => {
    expect(pricesOf(config({}, 'https://api.openai.com/v1'), 'acme', 'gpt-5')).toMatchObject({
      inputMicros: 1_250_000,
      outputMicros: 10_000_000,
      cachedMicros: 125_000,
    });
    expect([
      pricesOf(config({}), 'acme', 'gpt-5'),
      pricesOf(config({}), 'openai', 'no-such-model'),
      pricesOf(config({}), 'openai', 'text-embedding-3-small'),
    ]).toEqual([null, null, null]);
  });

  test('a price that changes in a day is the dearest of it', () => {
    const provider = knownProvider('deepseek', null)!;
    const at = (time: string) => knownPrices(provider, 'deepseek-chat', new Date(`2025-08-01T${time}Z`));
    expect(at('17:00:00')).toEqual(at('02:00:00'));
    expect(at('17:00:00')).toMatchObject({ inputMicros: 270_000, outputMicros: 1_100_000 });
  });

  test('output of several kinds has the price of the dearest', () => {
    expect(pricesOf(config({}), 'google', 'gemini-2.5-flash-image')).toMatchObject({
      inputMicros: 300_000,
      outputMicros: 30_000_000,
    });
  });

  test('lists what has a price, each once and bounded', () => {
    expect(
      pricedModels(config({ 'acme/own': price(1), 'acme/*': price(1), 'other/x': price(1) }), 'acme'),
    ).toEqual(['acme/own']);
    const many = pricedModels(config({}), 'openrouter');
    expect([many.length, new Set(many).size]).toEqual([200, 200]);
  });
});

describe('costs', () => {
  const prices: ModelPrices = {
    inputMicros: 3_000_000,
    outputMicros: 15_000_000,
    cachedMicros: 300_000,
    cacheWriteMicros: 3_750_000,
    cacheWriteLongMicros: 6_000_000,
    tiers: [
      {
        above: 200_000,
        inputMicros: 6_000_000,
        outputMicros: 22_500_000,
        cachedMicros: 600_000,
        cacheWriteMicros: 7_500_000,
        cacheWriteLongMicros: 12_000_000,
      },
    ],
  };

  test('are exact to a micro-unit, and rounded up once', () => {
    expect(costOf(prices, tokens(1000, 100))).toBe(4500);
    expect(costOf(prices, tokens(1001, 1, 1000))).toBe(3 + 300 + 15);
    expect(costOf(prices, tokens(60, 0, 10, 20, 30))).toBe(3 + 75 + 180);
    expect(costOf({ ...prices, inputMicros: 1, outputMicros: 1 }, tokens(1, 1))).toBe(1);
    expect(costOf({ ...prices, inputMicros: 333_333, outputMicros: 333_333 }, tokens(2, 1))).toBe(1);
    expect(
      micros([
        [1_000_000, 1],
        [1, 1],
      ]),
    ).toBe(2);
    expect(micros([[9_007_199_254_740_991, 1_000_000]])).toBe(9_007_199_254_740_991);
    expect(micros([[9_007_199_254_740_991, 1_000_001]])).toBe(9_007_199_254_740_991);
  });

  test('of a large call are those of its tier, for all of its tokens', () => {
    expect(costOf(prices, tokens(200_000, 10))).toBe(600_150);
    expect(costOf(prices, tokens(200_001, 10))).toBe(1_200_006 + 225);
  });

  test('the dearest rates are of the tiers that can be reached', () => {
    expect(dearestRates(prices, 200_000).inputMicros).toBe(3_000_000);
    expect(dearestRates(prices, 200_001)).toMatchObject({
      inputMicros: 6_000_000,
      outputMicros: 22_500_000,
      cacheWriteLongMicros: 12_000_000,
    });
  });
});
