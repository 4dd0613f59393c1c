import { expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { hostIdOf, isTokenOf, makeHostToken } from './token.ts';

test('a token names its host, and only it counts', () => {
  const id = newId('hst');
  const { token, hash } = makeHostToken(id);
  const other = makeHostToken(id);
  expect([hostIdOf(token), isTokenOf(token, hash), isTokenOf(other.token, hash)]).toEqual([id, true, false]);
  expect(isTokenOf(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`, hash)).toBe(false);
  expect(isTokenOf(token, null)).toBe(false);
});

test('what has not the form of a token names no host', () => {
  const { token } = makeHostToken(newId('hst'));
  for (const text of ['', 'hrh_x', token.slice(1), token.slice(0, -1), `${token}A`, `hrk${token.slice(3)}`])
    expect(hostIdOf(text), text).toBe(null);
});
