import { expect, test } from 'vitest';
import { passwordFault } from './new-password.ts';

test.each([
  ['a'.repeat(12), null],
  ['\u{1f600}'.repeat(200), null],
  ['\u{1f600}'.repeat(6), 'It has 6 characters: it takes 12 to 200 characters.'],
  ['a'.repeat(201), 'It has 201 characters: it takes 12 to 200 characters.'],
])('%s', (password, fault) => {
  expect(passwordFault(password)).toBe(fault);
});
