import type { Variable } from '@headrace/client';
import { expect, test } from 'vitest';
import { looksSecret, nameFault, roomFault, usualTargets, valueFault } from './rules.ts';

const variable = (name: string, value: string | null) => ({ name, value }) as Variable;

test('names that the service takes', () => {
  for (const name of ['A', '_x1', 'API_URL', 'a'.repeat(128), 'PATHS', 'ld_x', 'PROXY'])
    expect(nameFault(name), name).toBeNull();
  for (const name of ['', '1A', 'A-B', 'Ä', 'a'.repeat(129)]) expect(nameFault(name), name).toMatch(/digit/);
  for (const name of ['PATH', 'ENV', 'LD_PRELOAD', 'HEADRACE_X', 'http_proxy', 'NO_PROXY'])
    expect(nameFault(name), name).toMatch(/sandbox/);
});

test('values by their bytes, and secrets by their characters', () => {
  expect(valueFault('', false)).toBeNull();
  expect(valueFault('ä'.repeat(16_384), false)).toBeNull();
  expect(valueFault(`${'ä'.repeat(16_384)}a`, false)).toBe('At most 32 KiB.');
  expect(valueFault('1234567', true)).toMatch(/at least 8/);
  expect(valueFault('12345678', true)).toBeNull();
});

test('the room of a level, where one that is there is replaced', () => {
  const full = Array.from({ length: 100 }, (_, i) => variable(`V${i}`, null));
  expect(roomFault(full, [{ name: 'V7', value: 'x' }])).toBeNull();
  expect(roomFault(full, [{ name: 'NEW', value: 'x' }])).toMatch(/100 variables/);
  const half = variable('BIG', 'x'.repeat(32_768));
  expect(roomFault([half], [{ name: 'BIG', value: 'x' }])).toBeNull();
  expect(roomFault([half], [{ name: 'OTHER', value: 'x'.repeat(32_768) }])).toMatch(/64 KiB/);
});

test('what a new one is given to, and which names promise a secret', () => {
  expect(usualTargets(true)).toEqual(['exec', 'build', 'preview']);
  expect(usualTargets(false)).toEqual(['run', 'exec', 'build', 'preview']);
  for (const name of ['STRIPE_KEY', 'db_password', 'GITHUB_TOKEN']) expect(looksSecret(name)).toBe(true);
  for (const name of ['API_URL', 'KEYBOARD', 'PORT']) expect(looksSecret(name)).toBe(false);
});
