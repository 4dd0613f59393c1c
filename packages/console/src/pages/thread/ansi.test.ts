import { expect, test } from 'vitest';
import { plainOf, spansOf } from './ansi.ts';

test('colours, bold and their ends', () => {
  expect(spansOf('\u001b[32m✓\u001b[0m ok \u001b[1;31mbad\u001b[22m!\u001b[39m.')).toEqual([
    { text: '✓', colour: 'text-done' },
    { text: ' ok ' },
    { text: 'bad', bold: true, colour: 'text-fail' },
    { text: '!', bold: false, dim: false, colour: 'text-fail' },
    { text: '.' },
  ]);
});

test('bright and indexed colours are ours, others are none', () => {
  const colours = (codes: string) => spansOf(`\u001b[${codes}mx`)[0]?.colour;
  expect(colours('91')).toBe('text-fail');
  expect(colours('90')).toBe('text-ink-3');
  expect(colours('38;5;2')).toBe('text-done');
  expect(colours('38;5;200')).toBeUndefined();
  expect(colours('38;2;1;2;31')).toBeUndefined();
  expect(colours('48;5;1;32')).toBe('text-done');
  expect(colours('')).toBeUndefined();
});

test.each([
  ['cursor moves', 'a\u001b[2K\u001b[1;1Hb', 'ab'],
  ['a title', '\u001b]0;evil title\u0007text', 'text'],
  ['a link', '\u001b]8;;https://example.com\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['an unended string', 'text\u001b]0;evil', 'text'],
  ['device control', 'a\u001bPq#0\u001b\\b', 'ab'],
  ['private modes', '\u001b[?25la\u001b[?25h', 'a'],
  ['eight-bit sequences', 'a\u009b31mb', 'ab'],
])('%s are dropped', (_, output, text) => {
  expect(plainOf(output)).toBe(text);
});

test('lines written over show what was written last', () => {
  expect(plainOf('10%\r50%\r100%\ndone\r\nnext')).toBe('100%\ndone\nnext');
  expect(plainOf('working\r')).toBe('working');
  expect(plainOf('abc\b\bX')).toBe('aX');
});

test('what one step shows takes no time, whatever is in it', () => {
  const began = performance.now();
  spansOf('\u001b[31mx'.repeat(35_000));
  spansOf('\u001b['.repeat(100_000));
  spansOf('\u001b]'.repeat(100_000));
  expect(performance.now() - began).toBeLessThan(1_000);
});
