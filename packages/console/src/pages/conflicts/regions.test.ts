import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf, markersIn, partsOf, taken, withBoth } from './regions.ts';
import type { Merged } from './regions.ts';

const side = (content: string) => ({
  sha256: '',
  byteSize: 0,
  executable: false,
  encoding: 'utf8' as const,
  content,
});

const MERGED: Merged = {
  content:
    'a\n<<<<<<< head\nh1\nh2\n=======\nd1\n>>>>>>> draft\nb\n<<<<<<< head\n=======\nd2\n>>>>>>> draft\n',
  regions: [
    { fromLine: 2, toLine: 7 },
    { fromLine: 9, toLine: 12 },
  ],
};

test('places are taken one by one, and the others stay where they are', () => {
  const first = taken(MERGED, 0, 'draft');
  expect(first.content).toBe('a\nd1\nb\n<<<<<<< head\n=======\nd2\n>>>>>>> draft\n');
  expect(first.regions).toEqual([{ fromLine: 4, toLine: 7 }]);
  expect(taken(first, 0, 'head')).toEqual({ content: 'a\nd1\nb\n', regions: [] });
  expect(taken(MERGED, 1, 'both').regions).toEqual([{ fromLine: 2, toLine: 7 }]);
});

test('both are the head’s lines and then the draft’s', () => {
  expect(withBoth(MERGED)).toBe('a\nh1\nh2\nd1\nb\nd2\n');
});

test('thousands of places are no long work', () => {
  const place = '<<<<<<< head\nh\n=======\nd\n>>>>>>> draft\n';
  const count = 20_000;
  const regions = Array.from({ length: count }, (_, i) => ({ fromLine: 5 * i + 1, toLine: 5 * i + 5 }));
  expect(withBoth({ content: place.repeat(count), regions })).toBe('h\nd\n'.repeat(count));
});

test('what cannot be told from a marker is not cut', () => {
  const unclear = {
    content: '<<<<<<< head\n=======\n=======\nd\n>>>>>>> draft\n',
    regions: [{ fromLine: 1, toLine: 5 }],
  };
  expect([partsOf(unclear), withBoth(unclear), taken(unclear, 0, 'head')]).toEqual([null, null, unclear]);
});

test('markers of the file itself do not count', () => {
  const sides = { head: side('Title\n=======\n'), draft: side('Title\n=======\nmore\n') };
  expect(markersIn('Title\n=======\nmine\n', sides)).toBe(0);
  expect(markersIn('<<<<<<< head\nx\n=======\n>>>>>>> draft:old.txt\r\n', sides)).toBe(2);
});

test('any places in any order: both sides of what is agreed on stay', () => {
  const lines = fc.array(fc.constantFrom('x\n', 'y\r\n', '\n'), { maxLength: 3 });
  const place = fc.record({ text: lines, head: lines, draft: lines });
  fc.assert(
    fc.property(
      fc.array(place, { minLength: 1, maxLength: 5 }),
      fc.array(fc.constantFrom('head', 'draft', 'both')),
      (places, takes) => {
        let content = '';
        const regions = [];
        for (const { text, head, draft } of places) {
          content += text.join('');
          const fromLine = linesOf(content).length + 1;
          content += ['<<<<<<< head\n', ...head, '=======\n', ...draft, '>>>>>>> draft\n'].join('');
          regions.push({ fromLine, toLine: linesOf(content).length });
        }
        let left: Merged = { content, regions };
        let wanted = '';
        for (const [i, { text, head, draft }] of places.entries()) {
          const take = takes[i] ?? 'head';
          left = taken(left, 0, take);
          wanted += [...text, ...(take === 'draft' ? [] : head), ...(take === 'head' ? [] : draft)].join('');
        }
        expect(left).toEqual({ content: wanted, regions: [] });
      },
    ),
  );
});
