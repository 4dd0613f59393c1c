import { RunnerError } from '@headrace/runner/client';
import type { JournalEntry } from '@headrace/runner/protocol';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { followTask } from './follow-task.ts';

const output = (offset: number): JournalEntry => ({
  type: 'output',
  offset,
  at: '',
  stream: 'stdout',
  text: `${offset}`,
});
const END: JournalEntry = {
  type: 'end',
  offset: 9,
  at: '',
  outcome: 'completed',
  exitCode: 0,
  signal: null,
  oom: false,
  error: null,
  timedOut: false,
  durationMs: 1,
};
const away = () => new RunnerError(503, 'unavailable', 'The journal broke off.');

/** Each connection gives its entries, and then throws its fault, waits for its signal, or just ends. */
type Connection = { entries: JournalEntry[]; fault?: Error | 'wait' };

/** Follows a task whose runner answers so; says which offsets were asked for and which entries came. */
function follow(connections: Connection[], options: Partial<Parameters<typeof followTask>[2]> = {}) {
  const asked: number[] = [];
  const came: number[] = [];
  async function* journal(_id: string, from = 0, signal?: AbortSignal): AsyncGenerator<JournalEntry> {
    const { entries, fault } = connections[asked.push(from) - 1]!;
    yield* entries;
    if (fault === 'wait') {
      await new Promise((resolve) => {
        if (signal!.aborted) resolve(null);
        signal!.addEventListener('abort', resolve);
      });
      throw away();
    }
    if (fault) throw fault;
  }
  const followed = followTask(
    { runner: { journal } } as unknown as Parameters<typeof followTask>[0],
    'op_1',
    {
      signal: new AbortController().signal,
      onEntry: (entry) => void came.push(entry.offset),
      ...options,
    },
  );
  return { followed, asked, came };
}

describe('ended', () => {
  test('gives each entry once, and the end apart from them', async () => {
    const { followed, asked, came } = follow([{ entries: [output(4), output(6), END] }], { from: 4 });
    expect(await followed).toEqual({ kind: 'ended', end: END });
    expect([asked, came]).toEqual([[4], [4, 6]]);
  });

  test('waits for one entry before the next', async () => {
    const steps: string[] = [];
    const { followed } = follow([{ entries: [output(0), output(1), END] }], {
      async onEntry({ offset }) {
        steps.push(`${offset} begins`);
        await Promise.resolve();
        steps.push(`${offset} ends`);
      },
    });
    await followed;
    expect(steps).toEqual(['0 begins', '0 ends', '1 begins', '1 ends']);
  });

  test('reads on behind the last entry, whatever offsets the journal dropped, as often as it breaks', async () => {
    const resumeFrom = vi.fn((next: number) => Promise.resolve(next));
    const { followed, asked, came } = follow(
      [
        { entries: [output(0)], fault: away() },
        { entries: [output(5)] },
        { entries: [], fault: away() },
        { entries: [END] },
      ],
      { resumeFrom },
    );
    expect(await followed).toEqual({ kind: 'ended', end: END });
    expect([asked, came]).toEqual([
      [0, 1, 6, 6],
      [0, 5],
    ]);
    expect(resumeFrom.mock.calls).toEqual([
      [1, 1],
      [6, 2],
      [6, 3],
    ]);
  });

  test('counts breaks anew after a connection that lasted, but for its limit', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const resumeFrom = vi.fn((next: number, _breaks: number) => Promise.resolve(next));
    const minutes = [0, 0, 2, 0, 5];
    const { followed } = follow(
      [...minutes.map((_, i) => ({ entries: [output(i)], fault: away() })), { entries: [END] }],
      {
        resumeFrom,
        limitMs: 4 * 60_000,
        onEntry: ({ offset }) => void vi.advanceTimersByTime(minutes[offset]! * 60_000),
      },
    );
    await followed;
    expect(resumeFrom.mock.calls.map(([, breaks]) => breaks)).toEqual([1, 2, 1, 2, 3]);
  });

  test('reads again from wherever it is asked to', async () => {
    const { followed, came } = follow(
      [{ entries: [output(0)], fault: away() }, { entries: [output(0), output(1), END] }],
      { resumeFrom: () => Promise.resolve(0) },
    );
    await followed;
    expect(came).toEqual([0, 0, 1]);
  });
});

describe('broken', () => {
  test('at the first break, without a way to resume', async () => {
    const error = away();
    expect(await follow([{ entries: [output(0)], fault: error }]).followed).toEqual({
      kind: 'broken',
      error,
    });
  });

  test('when the task is lost', async () => {
    const error = away();
    const { followed, asked } = follow([{ entries: [], fault: error }], {
      resumeFrom: () => Promise.resolve(null),
    });
    expect([await followed, asked]).toEqual([{ kind: 'broken', error }, [0]]);
  });

  test('by a journal that ends without an end', async () => {
    expect(await follow([{ entries: [output(0)] }]).followed).toMatchObject({
      kind: 'broken',
      error: { status: 503 },
    });
  });

  test('by a runner that fails while an entry is handled', async () => {
    const error = away();
    const { followed } = follow([{ entries: [output(0), END] }], { onEntry: () => Promise.reject(error) });
    expect(await followed).toEqual({ kind: 'broken', error });
  });

  test('by a connection that takes longer than its limit', async () => {
    const { followed } = follow([{ entries: [], fault: 'wait' }], { limitMs: 10 });
    expect(await followed).toMatchObject({ kind: 'broken' });
  });
});

describe('left', () => {
  test('when the worker stops while it reads', async () => {
    const stop = new AbortController();
    const resumeFrom = vi.fn();
    const { followed } = follow([{ entries: [output(0)], fault: 'wait' }], {
      signal: stop.signal,
      resumeFrom,
    });
    stop.abort();
    expect(await followed).toEqual({ kind: 'left' });
    expect(resumeFrom).not.toHaveBeenCalled();
  });

  test('when the worker stops while the runner is looked for', async () => {
    const stop = new AbortController();
    const { followed } = follow([{ entries: [], fault: away() }], {
      signal: stop.signal,
      resumeFrom() {
        stop.abort();
        return Promise.resolve(null);
      },
    });
    expect(await followed).toEqual({ kind: 'left' });
  });

  test('when the worker stopped, whatever an entry failed with', async () => {
    const stop = new AbortController();
    const { followed } = follow([{ entries: [output(0)] }], {
      signal: stop.signal,
      onEntry() {
        stop.abort();
        throw new Error('another attempt has the job');
      },
    });
    expect(await followed).toEqual({ kind: 'left' });
  });
});

test('throws what is no fault of the runner: the fence that was lost, the database that is away', async () => {
  const error = new Error('another attempt has the job');
  const resumeFrom = vi.fn();
  const { followed } = follow([{ entries: [output(0), END] }], {
    onEntry: () => Promise.reject(error),
    resumeFrom,
  });
  await expect(followed).rejects.toBe(error);
  expect(resumeFrom).not.toHaveBeenCalled();
});
