import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { extend, keyOf, newKey, settle } from './pending.ts';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  });
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a write has one key until it is answered, and for two minutes after its last attempt', async () => {
  const key = await keyOf('send a');
  vi.advanceTimersByTime(100_000);
  await extend('send a');
  vi.advanceTimersByTime(100_000);
  expect(await keyOf('send a')).toBe(key);
  vi.advanceTimersByTime(30_000);
  const next = await keyOf('send a');
  expect(next).not.toBe(key);
  await settle('send a');
  expect(await keyOf('send a')).not.toBe(next);
});

test('without `crypto.subtle`, long contents with the same beginning have different keys', async () => {
  const { crypto } = globalThis;
  const kept = await keyOf('send a');
  vi.stubGlobal('crypto', {
    getRandomValues: crypto.getRandomValues.bind(crypto),
  });
  expect(await keyOf('send a')).toBe(kept);
  const long = 'x'.repeat(5_000);
  expect(await keyOf(`${long}a`)).not.toBe(await keyOf(`${long}b`));
});

test('a key needs no secure context', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  expect(newKey()).toMatch(/^console-[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});
