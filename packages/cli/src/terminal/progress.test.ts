import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startProgress } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const streamOf = (terminal: { isTTY: boolean; columns?: number }) =>
  Object.assign(new PassThrough({ encoding: 'utf8' }), terminal);

test('a terminal has a bar in place, which is removed at the end', () => {
  const out = streamOf({ isTTY: true, columns: 60 });
  const step = { text: '日本語 5 of 20 files', done: 5, total: 20 };
  const stop = startProgress(out, () => step);
  vi.advanceTimersByTime(200);
  expect(out.read()).toBe('\r\u001b[K██████░░░░░░░░░░░░░░░░░░  25 %  日本語 5 of 20 files');
  stop();
  vi.advanceTimersByTime(60_000);
  expect(out.read()).toBe('\r\u001b[K');
});

test.each([
  ['no bar while the total is counted', 60, null, '12,000 files'],
  ['no bar where there is no room', 40, 20_000, '12,000 files'],
  ['no wrap of a long line', 10, null, '12,000 f…'],
])('a terminal has %s', (_, columns, total, expected) => {
  const out = streamOf({ isTTY: true, columns });
  const stop = startProgress(out, () => ({ text: '12,000 files', done: 12_000, total }));
  vi.advanceTimersByTime(200);
  expect(out.read()).toBe(`\r\u001b[K${expected}`);
  stop();
});

test('anything else has a line every 10 s, without escapes', () => {
  const out = streamOf({ isTTY: false });
  const stop = startProgress(out, () => ({ text: '5 of 20 files', done: 5, total: 20 }));
  vi.advanceTimersByTime(9_999);
  expect(out.read()).toBe(null);
  vi.advanceTimersByTime(10_001);
  expect(out.read()).toBe('5 of 20 files\n5 of 20 files\n');
  stop();
  vi.advanceTimersByTime(60_000);
  expect(out.read()).toBe(null);
});
