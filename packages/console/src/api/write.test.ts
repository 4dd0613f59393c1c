import { HeadraceError, UncertainError } from '@headrace/client';
import { expect, test } from 'vitest';
import { isAnswered } from './write.ts';

test('only the answer of the service to the write itself ends it', () => {
  const refused = new HeadraceError(403, 'forbidden', 'You may not.');
  expect(isAnswered(refused)).toBe(true);
  expect(isAnswered(new HeadraceError(401, 'unauthorized', 'Sign in.'))).toBe(false);
  expect(isAnswered(new HeadraceError(503, 'unavailable', 'Not now.'))).toBe(false);
  // A proxy's page, after an attempt without an answer.
  const page = new HeadraceError(403, 'invalid_response', 'Not from Headrace.');
  expect(isAnswered(new UncertainError(page, 'key', async () => null))).toBe(false);
});
