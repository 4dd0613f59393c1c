import { expect, test } from 'vitest';
import { inlineText } from './inline-text.ts';

test.each([
  ['a\r\nb\u0000\u2028c', 'a b c'],
  ['  `rm -rf`\n', "'rm -rf'"],
  ['', ''],
  ['\n\n', ''],
])('%j is %j', (text, expected) => expect(inlineText(text)).toBe(expected));

test('a longer text ends with an ellipsis that counts', () => {
  expect(inlineText('😀'.repeat(72), 72)).toBe('😀'.repeat(72));
  expect(inlineText('😀'.repeat(73), 72)).toBe(`${'😀'.repeat(71)}…`);
  expect([...inlineText('x'.repeat(2000))]).toHaveLength(1000);
});
