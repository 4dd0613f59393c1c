import { expect, test } from 'vitest';
import { detailsOf } from './details.ts';
import { paintFor } from './style.ts';

const plain = paintFor(false);

test('labels are aligned, long values wrap under their beginning, and what has no value is left out', () => {
  const text = detailsOf(
    [
      ['Name', 'Watering'],
      ['Prompt', 'Water the plants that are dry.\nThen stop.'],
      ['Limit', null],
      ['Paused', false],
      ['Hook', undefined],
    ],
    { width: 30, paint: plain },
  );
  expect(text.split('\n')).toEqual([
    'Name    Watering',
    'Prompt  Water the plants that',
    '        are dry.',
    '        Then stop.',
    'Limit   -',
    'Paused  no',
  ]);
});

test('a word that is longer than a line stays whole', () => {
  const url = 'https://example.com/a-rather-long-path/of-a-hook';
  expect(detailsOf([['URL', `${url} now`]], { width: 30, paint: plain })).toBe(`URL  ${url}\n     now`);
});

test('without a terminal, a pair is one line with a tab', () => {
  expect(detailsOf([['Prompt', 'a\nb']], { width: null, paint: plain })).toBe('Prompt\ta b');
});

test('control characters of strangers are shown', () => {
  expect(detailsOf([['Name', '\u001b[31mred']], { width: 40, paint: plain })).toBe('Name  ␛[31mred');
});
