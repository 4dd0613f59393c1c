import type { Approval, FollowItem, Message, Run, Tool } from '@headrace/client';
import { expect, test } from 'vitest';
import { Transcript } from './render.ts';
import type { LiveState } from './render.ts';

const STATE: LiveState = {
  columns: 60,
  rows: 12,
  nowMs: Date.parse('2026-01-01T00:00:05Z'),
  canAnswer: true,
  notice: undefined,
};
const START = '2026-01-01T00:00:00.000Z';

const newTranscript = (isVerbose = false) => new Transcript({ paint: (_, text) => text, isVerbose });
const message = (id: string, role: Message['role'], content: string): FollowItem => ({
  kind: 'message',
  message: {
    id,
    threadId: 'thr',
    role,
    content,
    runId: 'run',
    sequence: 1,
    clientMessageId: null,
    attachments: [],
    createdAt: START,
  },
});
const draft = (content: string): FollowItem => ({
  kind: 'draft',
  draft: { threadId: 'thr', messageId: 'msg', runId: 'run', revision: 1, content },
});
const tool = (change: Partial<Tool>): FollowItem => ({
  kind: 'tool',
  tool: {
    id: 'tool',
    threadId: 'thr',
    runId: 'run',
    name: 'sh',
    title: 'npm test',
    status: 'running',
    input: { command: 'npm test\nnpm publish\n' },
    output: null,
    truncated: false,
    startedAt: START,
    finishedAt: null,
    ...change,
  },
});
const approval = (status: Approval['status']): FollowItem => ({
  kind: 'approval',
  approval: {
    id: 'apr',
    threadId: 'thr',
    runId: 'run',
    toolId: 'tool',
    title: 'npm test',
    status,
    createdAt: START,
    expiresAt: START,
    resolvedBy: null,
    resolvedAt: null,
  },
});
const runOf = (change: Partial<Run>): FollowItem => ({
  kind: 'run',
  run: {
    id: 'run',
    threadId: 'thr',
    messageId: 'm',
    kind: 'message',
    agent: 'a',
    modelId: 'm',
    status: 'running',
    baseSourceId: 'src_1',
    resultSourceId: null,
    error: null,
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costMicros: 12_300 },
    warnings: [],
    activeDurationMs: 4_200,
    createdAt: START,
    startedAt: START,
    finishedAt: null,
    ...change,
  },
});

test('a draft is live until its message stays; the message is whole, however long', () => {
  const transcript = newTranscript();
  expect(transcript.take(runOf({}))).toEqual([]);
  expect(transcript.take(draft('1\n2\n3'))).toEqual([]);
  expect(transcript.live({ ...STATE, rows: 4 })).toEqual([
    '2',
    '3',
    'running  5.0 s  ·  Ctrl-C leaves, the work goes on',
  ]);
  expect(transcript.take(message('msg', 'assistant', '1\n2\n3\n4\n'))).toEqual(['1', '2', '3', '4', '']);
  expect(transcript.live(STATE)).toEqual(['running  5.0 s  ·  Ctrl-C leaves, the work goes on']);
  transcript.take(draft('again'));
  transcript.take({ kind: 'draft.removed', threadId: 'thr', messageId: 'msg' });
  expect(transcript.live(STATE)).toHaveLength(1);
});

test('a tool is live while it works; its output is folded unless --verbose', () => {
  const output = Array.from({ length: 8 }, (_, at) => `line ${at + 1}`).join('\n');
  const done = tool({ status: 'completed', output, finishedAt: '2026-01-01T00:00:02.500Z' });
  const transcript = newTranscript();
  transcript.take(tool({}));
  expect(transcript.live(STATE)).toEqual(['• sh  npm test  5.0 s']);
  expect(transcript.take(done)).toEqual([
    '✓ sh  npm test  2.5 s',
    '  │ … 4 lines before; --verbose shows them',
    '  │ line 5',
    '  │ line 6',
    '  │ line 7',
    '  │ line 8',
    '',
  ]);
  expect(transcript.live(STATE)).toEqual([]);
  expect(newTranscript(true).take(done).slice(0, 4)).toEqual([
    '✓ sh  npm test',
    'npm publish  2.5 s',
    '  │ line 1',
    '  │ line 2',
  ]);
});

test('what is to be allowed is shown whole before the question; the answer stays', () => {
  const transcript = newTranscript();
  transcript.take(tool({ status: 'pending', startedAt: null }));
  expect(transcript.take(approval('pending'))).toEqual([
    '? The agent asks whether it may use sh:',
    '  │ npm test',
    '  │ npm publish',
  ]);
  expect(transcript.question?.id).toBe('apr');
  expect(transcript.live(STATE)).toEqual(['• sh  npm test', 'May it? y yes, n no, a always in this thread']);
  expect(transcript.live({ ...STATE, canAnswer: false })[1]).toBe(
    '→ headrace approve apr, or headrace deny apr',
  );
  expect(transcript.take(approval('denied'))).toEqual(['✗ denied: npm test', '']);
  expect(transcript.question).toBeUndefined();
});

test('the end of a run ends all of it, with its cost, and says what to do next', () => {
  const transcript = newTranscript();
  for (const item of [runOf({}), draft('so far'), tool({}), approval('pending')]) transcript.take(item);
  const end = {
    finishedAt: START,
    status: 'failed',
    error: { code: 'spend_limit_reached', message: 'Too much.' },
  } as const;
  expect(transcript.take(runOf(end))).toEqual([
    '✗ The run failed: spend_limit_reached  4.2 s, $0.0123',
    '  Too much.',
    '→ Raise the limit: headrace thread update --spend-limit USD, then headrace retry',
    '',
  ]);
  expect([transcript.live(STATE), transcript.question]).toEqual([[], undefined]);
  const warnings = [{ path: 'a.sock', reason: 'not a file' }];
  expect(
    newTranscript().take(
      runOf({ finishedAt: START, status: 'completed', resultSourceId: 'src_2', warnings }),
    ),
  ).toEqual([
    '! a.sock: not a file',
    '✓ The run completed: src_2  4.2 s, $0.0123',
    '→ headrace diff -t thr shows the change, headrace apply thr merges it',
    '',
  ]);
});

test('live lines fit a small screen and its width: the question stays, the draft gives way', () => {
  const transcript = newTranscript();
  for (const item of [runOf({}), draft('語'.repeat(100)), tool({}), approval('pending')])
    transcript.take(item);
  const live = transcript.live({ ...STATE, columns: 20, rows: 6 });
  expect(live.length).toBe(5);
  expect(live.join('').replace(/\s/g, '')).toContain('Mayit?yyes,nno,aalwaysinthisthread');
  const tall = transcript.live({ ...STATE, columns: 20, rows: 30, notice: 'Waiting for the service' });
  expect(tall[0]).toBe('語'.repeat(10));
});
