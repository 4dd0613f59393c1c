import { expect, test } from 'vitest';
import { OutputTail } from './output-tail.ts';

const tailOf = (...parts: string[]) => {
  const tail = new OutputTail();
  for (const part of parts) tail.add(part);
  return tail.sentence();
};

test('has what was printed, its last whole lines where that is much, and nothing for nothing', () => {
  expect(tailOf()).toBe('');
  expect(tailOf('\n', ' ')).toBe('');
  expect(tailOf('one\ntw', 'o\0\n')).toBe(' Its last output: one\ntwo\u{fffd}');
  expect(tailOf('x'.repeat(500), '\n', 'y'.repeat(400), '\nlast', '\n'.repeat(200))).toBe(
    ` Its last output: ${'y'.repeat(400)}\nlast`,
  );
  expect(tailOf('z'.repeat(5000))).toBe(` Its last output: ${'z'.repeat(1000)}`);
});
