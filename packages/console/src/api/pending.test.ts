import { expect, test, vi } from 'vitest';
import { newKey } from './pending.ts';

test('a key needs no secure context', () => {
  const { getRandomValues } = crypto;
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) });
  try {
    expect(newKey()).toMatch(/^console-[0-9a-f]{32}$/);
    expect(newKey()).not.toBe(newKey());
  } finally {
    vi.unstubAllGlobals();
  }
});
