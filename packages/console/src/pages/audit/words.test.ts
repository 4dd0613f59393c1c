import { expect, test } from 'vitest';
import { wordsOf } from './words.ts';

test('an action reads as words, also an unknown one', () => {
  expect(['session.created', 'service_account.deleted', 'kite.flown_high', ''].map(wordsOf)).toEqual([
    'Signed in',
    'Service account deleted',
    'Kite flown high',
    '',
  ]);
});
