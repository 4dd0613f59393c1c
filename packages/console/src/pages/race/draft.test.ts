import { expect, test } from 'vitest';
import { titleFor } from './draft.ts';

const titled = (content: string, title = '') => titleFor({ content, title });

test('a thread is called as its message begins, unless it was given a title', () => {
  expect(titled('\n  Round the prices  \nto cents')).toBe('Round the prices');
  expect(titled('Round the prices', ' Prices ')).toBe('Prices');
  expect(titled('```sh\nnpm test\n```')).toBe('npm test');
  expect(titled(' ')).toBe('');
});

test('a long line is cut between words', () => {
  const title = titled('round the prices '.repeat(9));
  expect(title.length).toBeLessThanOrEqual(80);
  expect(title).toMatch(/ (round|the|prices)…$/);
  expect(titled('x'.repeat(200))).toBe(`${'x'.repeat(79)}…`);
});
