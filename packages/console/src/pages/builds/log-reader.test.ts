import { HeadraceError } from '@headrace/client';
import { describe, expect, test } from 'vitest';
import { readLog } from './log-reader.ts';
import type { LogPart } from './log-reader.ts';

/** A service with this log: parts of at most `size` bytes, cut between characters; it ends once all is read. */
function serviceOf(log: string, size: number) {
  const all = Buffer.from(log);
  const offsets: number[] = [];
  const read = async (offset: number): Promise<LogPart> => {
    offsets.push(offset);
    let end = Math.min(all.length, offset + size);
    while (end < all.length && (all[end]! & 0xc0) === 0x80) end--;
    return {
      text: all.subarray(offset, end).toString(),
      byteSize: all.length,
      truncated: false,
      nextOffset: end,
      ended: end === all.length,
    };
  };
  return { read, offsets };
}

const noPause = () => new Promise<void>((resolve) => void setImmediate(resolve));
const fault = (status: number) =>
  new HeadraceError(status, status === 404 ? 'build_not_found' : 'internal', 'It failed.');

describe('reading a log', () => {
  test('puts parts together by their offsets in bytes, whatever the characters', async () => {
    const text = 'é 😀 first\r\n\u001b[32mgrün\u001b[0m 10 %\r\u001b[32mgrün\u001b[0m 99 %\nдва\n';
    for (const size of [5, 7, 11, 1000]) {
      const { read, offsets } = serviceOf(text, size);
      let lines: string[] = [];
      await readLog(
        { read, pause: noPause },
        ({ log }) => (lines = log.lines.map((line) => line.text)),
        new AbortController().signal,
      );
      expect(lines).toEqual(['é 😀 first', 'grün 99 %', 'два']);
      expect(new Set(offsets).size).toBe(offsets.length);
    }
  });

  test('goes on at the same place after a failed read, and shows the fault until then', async () => {
    const { read, offsets } = serviceOf('one\ntwo\nthree\n', 6);
    let reads = 0;
    const seen: unknown[] = [];
    let lines: string[] = [];
    const pauses: number[] = [];
    await readLog(
      {
        read: (offset) => (++reads === 2 || reads === 3 ? Promise.reject(fault(500)) : read(offset)),
        pause: (ms) => (pauses.push(ms), Promise.resolve()),
      },
      ({ log, error }) => {
        seen.push(error !== null);
        lines = log.lines.map((line) => line.text);
      },
      new AbortController().signal,
    );
    expect(lines).toEqual(['one', 'two', 'three']);
    expect(offsets).toEqual([0, 6, 12]);
    expect(seen).toEqual([false, true, true, false, false]);
    expect(pauses).toEqual([1000, 1000, 2000, 1000]);
  });

  test('ends for a log that is gone, and with its signal', async () => {
    let reads = 0;
    await readLog(
      { read: () => (reads++, Promise.reject(fault(404))), pause: noPause },
      () => {},
      new AbortController().signal,
    );
    expect(reads).toBe(1);
    const ended = new AbortController();
    let states = 0;
    await readLog(
      {
        read: async (offset) => {
          reads++;
          return { text: 'x', byteSize: 1, truncated: false, nextOffset: offset + 1, ended: false };
        },
        pause: async () => ended.abort(),
      },
      () => states++,
      ended.signal,
    );
    expect([reads, states]).toEqual([2, 1]);
  });
});
