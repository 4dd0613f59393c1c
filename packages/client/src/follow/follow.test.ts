import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { refusal, sendJson, loopback } from '../loopback.fixture.ts';
import type { FollowItem } from './index.ts';
import { FakeThread } from './thread.fixture.ts';

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

/** `message msg_1`, `tool t1 running`, `thread ready`. */
function word(item: FollowItem): string {
  if (item.kind === 'message') return `message ${item.message.id}`;
  if (item.kind === 'tool') return `tool ${item.tool.id} ${item.tool.status}`;
  if (item.kind === 'approval') return `approval ${item.approval.id} ${item.approval.status}`;
  if (item.kind === 'run') return `run ${item.run.id} ${item.run.status}`;
  if (item.kind === 'draft') return `draft ${item.draft.messageId} ${item.draft.revision}`;
  return item.kind === 'thread' ? `thread ${item.thread.status}` : `no draft ${item.messageId}`;
}

async function words(items: AsyncGenerator<FollowItem>): Promise<string[]> {
  const all: string[] = [];
  for await (const item of items) all.push(word(item));
  return all;
}

/** A run with two tools and an approval in it, as steps. */
function* runOf(thread: FakeThread, content: string, status?: string): Generator<string> {
  const runId = thread.send(content);
  yield 'sent';
  thread.start(runId);
  yield 'started';
  for (const id of [`${runId}_a`, `${runId}_b`]) {
    thread.tool(runId, id, 'pending');
    yield 'pending';
    if (id.endsWith('b')) {
      thread.ask(runId, `apr_${runId}`);
      yield 'asked';
      thread.answer(runId, `apr_${runId}`);
      yield 'answered';
    }
    thread.tool(runId, id, 'running');
    thread.draft(runId, id.endsWith('a') ? 1 : 2);
    yield 'running';
    thread.tool(runId, id, 'completed');
    yield 'completed';
  }
  thread.reply(runId, status);
  yield 'replied';
}
const whole = (thread: FakeThread, content: string) => void Array.from(runOf(thread, content));

/** The end of a run with everything in it, as it is read. */
const wordsOf = (run: number, first: number) => [
  `message msg_${first}`,
  `tool run_${run}_a completed`,
  `tool run_${run}_b completed`,
  `approval apr_run_${run} approved`,
  `message msg_run_${run}`,
  `run run_${run} completed`,
];

test('a thread with nothing to do is shown whole, in order, and that is all', async () => {
  const thread = new FakeThread();
  whole(thread, 'one');
  whole(thread, 'two');
  await using server = await thread.serve();
  expect(await words(server.client.threads.follow('prj_1', 'thr_1'))).toEqual([
    ...wordsOf(0, 0),
    ...wordsOf(1, 2).map((w) => w.replace(/apr_run_1 .*/, 'apr_run_1 approved')),
    'thread ready',
  ]);
  expect(server.seen.some((s) => s.url.includes('/stream'))).toBe(false);
});

test('a run is followed from its beginning to its end, each change once', async () => {
  const thread = new FakeThread();
  const run = runOf(thread, 'one');
  run.next();
  await using server = await thread.serve();
  const seen: string[] = [];
  for await (const item of server.client.threads.follow('prj_1', 'thr_1')) {
    seen.push(word(item));
    if (item.kind === 'thread' || item.kind === 'tool') setTimeout(() => run.next(), 20);
  }
  expect(seen).toEqual([
    'message msg_0',
    'run run_0 queued',
    'thread queued',
    'run run_0 running',
    'thread running',
    'tool run_0_a pending',
    'tool run_0_a running',
    'draft msg_run_0 1',
    'tool run_0_a completed',
    'tool run_0_b pending',
    'approval apr_run_0 pending',
    'run run_0 waiting',
    'thread waiting',
    'approval apr_run_0 approved',
    'run run_0 running',
    'thread running',
    'tool run_0_b running',
    'draft msg_run_0 2',
    'tool run_0_b completed',
    'message msg_run_0',
    'run run_0 completed',
    'thread ready',
  ]);
});

test('a draft that ends without a message is removed', async () => {
  const thread = new FakeThread();
  const runId = thread.send('one');
  await using server = await thread.serve();
  const seen: string[] = [];
  for await (const item of server.client.threads.follow('prj_1', 'thr_1')) {
    seen.push(word(item));
    if (seen.at(-1) === 'thread queued') thread.start(runId);
    if (seen.at(-1) === 'thread running') thread.draft(runId, 1);
    if (item.kind === 'draft') thread.cancel(runId);
  }
  expect(seen.slice(-4)).toEqual([
    'draft msg_run_0 1',
    'run run_0 cancelled',
    'no draft msg_run_0',
    'thread ready',
  ]);
});

/** Whole numbers below n, the same for the same seed. */
function numbers(seed: number) {
  let at = seed * 7_919 + 1;
  return (n: number) => (at = (at * 48_271) % 2_147_483_647) % n;
}

describe('whatever happens between two requests', () => {
  test.each(Array.from({ length: 25 }, (_, i) => i + 1))(
    'nothing is lost, doubled or out of order (%i)',
    async (seed) => {
      const thread = new FakeThread();
      const below = numbers(seed);
      whole(thread, 'before');
      const script = (function* script() {
        yield* runOf(thread, 'one');
        thread.rename('A title');
        yield 'renamed';
        const second = runOf(thread, 'two');
        second.next();
        // A message that waits for the run under way.
        const third = runOf(thread, 'three');
        third.next();
        yield* second;
        yield* third;
      })();
      script.next();
      const played = { isOver: false };
      const step = () => {
        for (let n = below(4); n > 0; n--) played.isOver ||= script.next().done === true;
        const fault = below(12);
        if (fault === 0) thread.cut();
        if (fault === 1) thread.forget();
      };
      await using server = await thread.serve(() => below(2) && step());
      const pump = setInterval(step, 3);
      const shown: FollowItem[] = [];
      try {
        // It may end where the thread rests between two runs; then the next one follows from there.
        for (let last = 0; !played.isOver || last < thread.messages.length;) {
          const once = new Set<string>();
          const from = last ? { from: last } : {};
          for await (const item of server.client.threads.follow('prj_1', 'thr_1', from)) {
            shown.push(item);
            if (item.kind === 'message') last = item.message.sequence;
            if (!/^(message|tool|approval|run .* completed)/.test(word(item))) continue;
            expect(once).not.toContain(word(item));
            once.add(word(item));
          }
        }
      } finally {
        clearInterval(pump);
      }
      expect(shown.flatMap((item) => (item.kind === 'message' ? [item.message.sequence] : []))).toEqual(
        thread.messages.map((_, i) => i + 1),
      );
      const wordsShown = shown.map(word);
      for (const { id } of thread.tools)
        expect(wordsShown.filter((w) => w === `tool ${id} completed`)).not.toHaveLength(0);
      for (const { id } of thread.runs) {
        const end = wordsShown.indexOf(`run ${id} completed`);
        expect(end).toBeGreaterThan(wordsShown.indexOf(`message msg_${id}`));
        expect(wordsShown.indexOf(`message msg_${id}`)).toBeGreaterThan(
          wordsShown.indexOf(`tool ${id}_b completed`),
        );
        expect(wordsShown.indexOf(`tool ${id}_b completed`)).toBeGreaterThan(
          wordsShown.indexOf(`tool ${id}_a completed`),
        );
        expect(wordsShown).toContain(`approval apr_${id} approved`);
      }
      expect(wordsShown.at(-1)).toBe('thread ready');
    },
  );
});

describe('from', () => {
  test('a message shows what is newer, and the runs that had not ended before it', async () => {
    const thread = new FakeThread();
    whole(thread, 'one');
    whole(thread, 'two');
    await using server = await thread.serve();
    expect(await words(server.client.threads.follow('prj_1', 'thr_1', { from: 3 }))).toEqual([
      ...wordsOf(1, 2).slice(1),
      'thread ready',
    ]);
  });

  test('now shows only what is in progress', async () => {
    const thread = new FakeThread();
    whole(thread, 'one');
    const run = runOf(thread, 'two');
    for (let i = 0; i < 3; i++) run.next();
    await using server = await thread.serve();
    const seen: string[] = [];
    for await (const item of server.client.threads.follow('prj_1', 'thr_1', { from: 'now' }))
      if (seen.push(word(item)) === 3) break;
    expect(seen).toEqual(['run run_1 running', 'tool run_1_a pending', 'thread running']);
  });
});

test('keepOpen continues over several runs, until the thread is deleted', async () => {
  const thread = new FakeThread();
  await using server = await thread.serve();
  const seen: string[] = [];
  for await (const item of server.client.threads.follow('prj_1', 'thr_1', { keepOpen: true })) {
    seen.push(word(item));
    const count = seen.filter((w) => w === 'thread ready').length;
    if (seen.at(-1) === 'thread ready' && count < 3) setTimeout(() => whole(thread, 'more'), 5);
    if (seen.at(-1) === 'thread ready' && count === 3) thread.remove();
  }
  expect(seen.filter((w) => w.startsWith('message'))).toEqual([
    'message msg_0',
    'message msg_run_0',
    'message msg_2',
    'message msg_run_1',
  ]);
});

test('Direct threads have their own paths', async () => {
  const thread = new FakeThread();
  whole(thread, 'one');
  await using server = await thread.serve();
  expect(await words(server.client.thread('thr_1').follow())).toEqual([...wordsOf(0, 0), 'thread ready']);
  expect(server.seen.map((s) => s.url.split('?')[0]!)).toEqual([
    '/api/events/head',
    '/api/threads/thr_1',
    '/api/threads/thr_1/runs',
    '/api/threads/thr_1/messages',
    '/api/threads/thr_1/approvals',
    '/api/threads/thr_1/runs/run_0/tools',
    '/api/threads/thr_1/messages',
  ]);
});

test('what the key may not read throws, and a service that does not answer is waited for', async () => {
  await using server = await loopback((response, _, number) =>
    number < 20
      ? sendJson(response, 503, refusal('internal_error'))
      : sendJson(response, 403, refusal('forbidden')),
  );
  await expect(words(server.client.app('prj_1').thread('thr_1').follow())).rejects.toMatchObject({
    status: 403,
  });
  expect(server.seen).toHaveLength(20);
});
