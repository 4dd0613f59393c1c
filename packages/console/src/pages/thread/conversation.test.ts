import type { Checkpoint, Message, Run } from '@headrace/client';
import { expect, test } from 'vitest';
import { createAnnouncer } from './announce.ts';
import { cutStart, lastLines } from './cut.ts';
import { entriesOf, inheritedEntries } from './entries.ts';
import { nothingHeld, withNewest, withOlder } from './held.ts';
import { limitOf, limitText } from './spend.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const message = (id: string, second: number, part: Partial<Message> = {}) =>
  ({ id, createdAt: at(second), role: 'user', runId: null, content: '', ...part }) as Message;
const run = (id: string, second: number, part: Partial<Run> = {}) =>
  ({ id, createdAt: at(second), status: 'completed', ...part }) as Run;
const checkpoint = (id: string, second: number, part: Partial<Checkpoint> = {}) =>
  ({ id, createdAt: at(second), kind: 'run', runId: null, ...part }) as Checkpoint;

const NOTHING = { messages: [], runs: [], checkpoints: [], draft: null, isWhole: true };
const idsOf = (parts: Partial<Parameters<typeof entriesOf>[0]>) =>
  entriesOf({ ...NOTHING, ...parts })
    .map(({ id }) => id)
    .join(' ');

test('a run stands between what it was asked and what it replied', () => {
  const messages = [
    message('m1', 1, { runId: 'r1' }),
    message('joined', 2, { runId: 'r1' }),
    message('m2', 3, { runId: 'r1', role: 'assistant' }),
    message('m3', 4, { runId: 'r2' }),
  ];
  expect(idsOf({ messages, runs: [run('r1', 1), run('r2', 4)] })).toBe('m1 joined r1 m2 m3 r2');
});

test('runs without messages and changes by hand stand at their time', () => {
  const messages = [message('m1', 1), message('m2', 10)];
  const runs = [run('restore', 5)];
  const checkpoints = [
    checkpoint('edit', 12, { kind: 'edit' }),
    checkpoint('of-run', 6, { runId: 'restore' }),
  ];
  expect(idsOf({ messages, runs, checkpoints })).toBe('m1 restore m2 edit');
  const [, entry] = entriesOf({ ...NOTHING, messages, runs, checkpoints });
  expect(entry).toMatchObject({ kind: 'run', checkpoint: { id: 'of-run' } });
});

test('what is older than the oldest message waits for it', () => {
  const messages = [message('m9', 9)];
  expect(idsOf({ messages, runs: [run('old', 1)], isWhole: false })).toBe('m9');
  expect(idsOf({ messages, runs: [run('old', 1)], isWhole: true })).toBe('old m9');
});

test('a reply in progress stands behind its run, and its message replaces it', () => {
  const messages = [message('m1', 1, { runId: 'r1' }), message('m2', 2, { runId: 'r2' })];
  const runs = [run('r1', 1, { status: 'running' }), run('r2', 2, { status: 'queued' })];
  const draft = { messageId: 'm3', runId: 'r1' };
  expect(idsOf({ messages, runs, draft })).toBe('m1 r1 m3 m2 r2');
  const done = [...messages, message('m3', 3, { runId: 'r1', role: 'assistant' })];
  expect(idsOf({ messages: done, runs, draft }).match(/m3/g)).toHaveLength(1);
});

test('what a fork inherited is folded under a line for each thread', () => {
  const messages = [
    message('g1', 1, { threadId: 'grandparent' }),
    message('p1', 2, { threadId: 'parent' }),
    message('p2', 3, { threadId: 'parent' }),
  ];
  const shown = (...unfolded: string[]) =>
    inheritedEntries(messages, new Set(unfolded))
      .map((one) => (one.kind === 'inherited' ? `${one.threadId}:${one.count}` : one.id))
      .join(' ');
  expect(shown()).toBe('grandparent:1 parent:2');
  expect(shown('parent')).toBe('grandparent:1 p1 p2 parent:2');
  expect(shown('parent', 'grandparent')).toBe('g1 grandparent:1 p1 p2 parent:2');
});

const page = (ids: number[], nextCursor: string | null = null) => ({
  items: ids.map((id) => ({ id: String(id), createdAt: at(id) })),
  nextCursor,
  hasMore: nextCursor !== null,
});
const held = (state: { items: { id: string }[] }) => state.items.map(({ id }) => id).join(' ');

test('new pages add to what is held, older ones come before it', () => {
  let state = withNewest(nothingHeld(), page([3, 2], 'c2'));
  state = withOlder(state, 'c2', page([1, 0]));
  expect(held(state)).toBe('0 1 2 3');
  // The newest page has moved on: nothing in between is lost.
  state = withNewest(state, page([4, 3], 'c3'));
  expect(held(state)).toBe('0 1 2 3 4');
  expect(state.older).toBeNull();
});

test('after a gap, what was held is read again', () => {
  let state = withNewest(nothingHeld(), page([2, 1], 'c1'));
  state = withNewest(state, page([9, 8], 'c8'));
  expect(held(state)).toBe('8 9');
  // An answer from before the gap comes too late.
  expect(withOlder(state, 'c1', page([0]))).toBe(state);
});

test('the same page changes nothing', () => {
  const first = page([1]);
  const state = withNewest(nothingHeld(), first);
  expect(withNewest(state, first)).toBe(state);
});

test('long text is cut at a line, and never within a character', () => {
  expect(cutStart('short', 10)).toBe('short');
  expect(cutStart('123456789\nabcdef', 11)).toBe('123456789');
  expect(cutStart('a😀b', 2)).toBe('a');
  expect(lastLines('one\ntwo\nthree\n', 2, 100)).toBe('two\nthree');
  expect(lastLines('x'.repeat(50), 2, 10)).toBe('x'.repeat(10));
});

test('a growing reply is read out by whole sentences, at most one time in five seconds', () => {
  const announcer = createAnnouncer();
  expect(announcer.hear('I look at', 0)).toBeNull();
  expect(announcer.hear('I look at it. Then I', 100)).toBe('I look at it.');
  expect(announcer.hear('I look at it. Then I go. And', 3_000)).toBeNull();
  expect(announcer.hear('I look at it. Then I go. And', 5_200)).toBe('Then I go.');
  expect(announcer.hear('I look at it. Then I go. And done', 5_300, true)).toBe('And done');
  expect(announcer.hear('I look at it. Then I go. And done', 5_400, true)).toBeNull();
});

test('a reply that grows faster than it is read out is skipped over', () => {
  const said = createAnnouncer().hear('A sentence. '.repeat(500), 0);
  expect(said!.length).toBeLessThan(450);
});

test.each([
  ['', null],
  ['2.50', 2_500_000],
  ['$0.000001', 1],
  ['0', 0],
  ['two', undefined],
  ['-1', undefined],
  ['1.0000001', undefined],
  ['99999999999999', undefined],
])('the limit %j', (text, micros) => {
  expect(limitOf(text)).toBe(micros);
});

test('a limit is shown as it can be written', () => {
  expect(limitText(null)).toBe('');
  expect(limitOf(limitText(1_234_567))).toBe(1_234_567);
});
