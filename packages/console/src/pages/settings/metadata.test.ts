import { expect, test } from 'vitest';
import { isSameMetadata, metadataOf, pairsOf, wrongNames } from './metadata.ts';

test('metadata is the same after it was a form', () => {
  const metadata = { team: 'garden', __proto: 'x', '': 'nothing' };
  expect(metadataOf(pairsOf(metadata))).toEqual(metadata);
});

test('a name is there, and once', () => {
  const named = (...names: string[]) => wrongNames(names.map((name) => ({ name, value: '' })));
  expect(named('a', 'b')).toEqual([null, null]);
  expect(named('a', '', 'a')).toEqual([null, 'A name is missing.', 'This name is there already.']);
});

test('what differs only in its order is no change', () => {
  expect(isSameMetadata({ a: '1', b: '2' }, { b: '2', a: '1' })).toBe(true);
  expect(isSameMetadata({ a: '1' }, { a: '2' })).toBe(false);
  expect(isSameMetadata({ a: '1' }, { a: '1', b: '' })).toBe(false);
});
