import { describe, expect, test, vi } from 'vitest';
import type { JournalEntry } from '../protocol.ts';
import { Journal } from './journal.ts';

const END = {
  type: 'end',
  outcome: 'completed',
  exitCode: 0,
  signal: null,
  timedOut: false,
  oom: false,
  error: null,
  durationMs: 1,
} as const;

async function all(journal: Journal, from = 0): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of journal.read(from, AbortSignal.timeout(5000))) entries.push(entry);
  return entries;
}

const said = (text: string): { type: 'output'; stream: 'stdout'; text: string } => ({
  type: 'output',
  stream: 'stdout',
  text,
});

describe('a journal', () => {
  test('gives a reader what was and what comes, up to the end', async () => {
    const journal = new Journal();
    journal.append({ type: 'started' });
    const reading = all(journal);
    journal.append(said('a'));
    journal.append(END);
    journal.append(said('after the end'));
    expect((await reading).map((e) => [e.offset, e.type])).toEqual([
      [0, 'started'],
      [1, 'output'],
      [2, 'end'],
    ]);
  });

  test('replays from any offset that was not acknowledged', async () => {
    const journal = new Journal();
    for (const text of ['a', 'b', 'c']) journal.append(said(text));
    journal.append(END);
    expect((await all(journal, 1)).map((e) => e.offset)).toEqual([1, 2, 3]);
    journal.ack(1);
    expect((await all(journal, 0)).map((e) => e.offset)).toEqual([2, 3]);
    journal.ack(3);
    expect((await all(journal, 0)).map((e) => e.type)).toEqual(['end']);
  });

  test('keeps one text, the last always, at most one in 100 ms', async () => {
    vi.useFakeTimers();
    const journal = new Journal();
    for (let i = 0; i <= 1000; i++) {
      journal.text(`text ${i}`);
      vi.advanceTimersByTime(1);
    }
    expect(journal.lastOffset).toBe(10);
    vi.advanceTimersByTime(1000);
    const before = journal.lastOffset;
    journal.text('at once after a silence');
    expect(journal.lastOffset).toBe(before + 1);
    journal.text('last');
    journal.append(END);
    journal.text('after the end');
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    expect((await all(journal)).map((e) => (e.type === 'text' ? e.content : e.type))).toEqual([
      'last',
      'end',
    ]);
  });

  test('gives who only shows the reply its texts, cut to what is shown, and the end', async () => {
    const journal = new Journal();
    journal.append({ type: 'started' });
    journal.text('a'.repeat(300_000));
    journal.append(said('output'));
    const entries: JournalEntry[] = [];
    const reading = (async () => {
      for await (const entry of journal.readDraft(0, AbortSignal.timeout(5000))) entries.push(entry);
    })();
    await vi.waitFor(() => expect(entries.length).toBe(1));
    journal.append(said('more output'));
    journal.text('b');
    journal.append(END);
    await reading;
    expect(entries.map((e) => (e.type === 'text' ? [e.offset, e.content.length] : e.type))).toEqual([
      [1, 200_000],
      [4, 1],
      'end',
    ]);
    expect((await all(journal)).length).toBe(5);
  });

  test.each([
    { input: null, output: 'x'.repeat(64 * 1024) },
    { input: { command: 'x'.repeat(64 * 1024) }, output: null },
  ])('stays bounded, and its end always comes', async (big) => {
    const journal = new Journal();
    const tool = {
      type: 'tool',
      toolCallId: 'x',
      name: 'x',
      title: '',
      status: 'completed',
      ...big,
      truncated: false,
    } as const;
    for (let i = 0; i < 3_000; i++) journal.append(tool);
    journal.append(END);
    const entries = await all(journal);
    expect(JSON.stringify(entries).length).toBeLessThan(64 * 1024 * 1024);
    expect(entries.at(-1)!.type).toBe('end');
  });
});
