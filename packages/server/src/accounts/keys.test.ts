import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { credentialIdOf, hashKey, isServiceKey, makeServiceKey } from './keys.ts';

describe('a service key', () => {
  const key = makeServiceKey('cred_01k9x3v5e8f7arh2m4t6w8y0zb');

  test('names its credential and ends with check digits over the rest', () => {
    expect(key).toMatch(/^hrk_01k9x3v5e8f7arh2m4t6w8y0zb_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/);
    expect(key.slice(-6)).toBe(createHash('sha256').update(key.slice(0, -6)).digest('hex').slice(0, 6));
    expect(isServiceKey(key)).toBe(true);
    expect(credentialIdOf(key)).toBe('cred_01k9x3v5e8f7arh2m4t6w8y0zb');
  });

  test('with any one character changed, added or taken away is none', () => {
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === '1' ? '2' : '1';
      expect(isServiceKey(key.slice(0, at) + other + key.slice(at + 1)), `at ${at}`).toBe(false);
      expect(isServiceKey(key.slice(0, at) + key.slice(at + 1)), `without ${at}`).toBe(false);
    }
    for (const text of ['', 'hrk_', `${key}0`, ` ${key}`, `${key}\n`]) expect(isServiceKey(text)).toBe(false);
  });

  test('is new each time, and so is what is stored of it', () => {
    const other = makeServiceKey('cred_01k9x3v5e8f7arh2m4t6w8y0zb');
    expect(other).not.toBe(key);
    expect(hashKey(other).equals(hashKey(key))).toBe(false);
  });
});
