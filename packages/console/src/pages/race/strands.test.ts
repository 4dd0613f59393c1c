import { describe, expect, test } from 'vitest';
import { historyOf } from './race.fixture.ts';
import type { Step } from './race.fixture.ts';
import { isShown, strandsOf } from './strands.ts';

const thread: Step = { do: 'thread' };
const applied: Step = { do: 'apply', pick: 0 };

describe('strandsOf', () => {
  test('a source that is the head again: the thread left from the last time before it was created', () => {
    const data = historyOf([thread, applied, thread, applied, thread]);
    data.heads[2]!.sourceId = 'src_h1';
    data.threads[2]!.sourceId = 'src_h1';
    expect(strandsOf(data).find(({ threadId }) => threadId === 'thr_0003')).toMatchObject({ base: 3 });
    expect(strandsOf(data).find(({ threadId }) => threadId === 'thr_0001')).toMatchObject({
      base: 1,
      joined: 2,
    });
  });

  test('a thread that is not read yet is drawn by its apply', () => {
    const data = historyOf([thread, applied]);
    expect(strandsOf({ ...data, threads: [] })).toMatchObject([
      { threadId: 'thr_0001', thread: null, base: 1, joined: 2, ending: 'joined' },
    ]);
  });

  test('an apply of a revision that is not read yet is left out; a newer one waits for its revision', () => {
    const data = historyOf([thread, applied, thread, applied]);
    expect(strandsOf({ ...data, heads: data.heads.slice(2) }).map(({ threadId }) => threadId)).toEqual([
      'thr_0002',
    ]);
    expect(strandsOf({ ...data, heads: data.heads.slice(0, 2) })).toMatchObject([
      { threadId: 'thr_0001', joined: 2 },
      { threadId: 'thr_0002', joined: null, ending: 'queue', status: 'joining' },
    ]);
  });

  test('a revision read before its apply: the thread has joined', () => {
    const data = historyOf([thread, applied]);
    data.applies[0]!.status = 'queued';
    expect(strandsOf(data)).toMatchObject([
      { joined: 2, ending: 'joined', status: 'applied', position: null },
    ]);
  });

  test('positions in the queue are by sequence', () => {
    const data = historyOf([thread, thread, { do: 'queue', pick: 1 }, { do: 'queue', pick: 0 }]);
    expect(strandsOf(data).map(({ threadId, position }) => [threadId, position])).toEqual([
      ['thr_0001', 2],
      ['thr_0002', 1],
    ]);
  });

  test('a conflict is the end until the thread goes on', () => {
    const data = historyOf([thread, { do: 'conflict', pick: 0 }]);
    expect(strandsOf(data)).toMatchObject([{ ending: 'conflict', status: 'conflicted' }]);
    data.threads[0]!.status = 'running';
    expect(strandsOf(data)).toMatchObject([{ ending: 'open', status: 'running', apply: null }]);
    data.threads[0]!.status = 'ready';
    data.threads[0]!.latestSourceId = 'src_new';
    expect(strandsOf(data)).toMatchObject([{ ending: 'open', status: 'ready' }]);
  });
});

describe('isShown', () => {
  const data = historyOf([thread, applied, thread, { do: 'archive', pick: 0 }]);
  const shown = (filter: Parameters<typeof isShown>[1]) =>
    strandsOf(data)
      .filter((strand) => isShown(strand, filter))
      .map(({ threadId }) => threadId);

  test('an archived thread is shown when asked for', () => {
    expect(shown({})).toEqual(['thr_0001']);
    expect(shown({ status: 'archived' })).toEqual(['thr_0002']);
  });

  test('a search shows only what the list of threads answers', () => {
    expect(strandsOf({ ...data, threads: [] }).filter((strand) => isShown(strand, { query: 'a' }))).toEqual(
      [],
    );
  });
});
