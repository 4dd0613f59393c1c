import { expect, test } from 'vitest';
import {
  faultOfFiles,
  faultOfText,
  LONGEST_TEXT,
  mediaTypeOf,
  MOST_BYTES,
  outcomeOf,
} from './composer-rules.ts';
import type { Situation } from './composer-rules.ts';

type Run = Situation['runs'][number];

const THREAD: Situation['thread'] = {
  archivedAt: null,
  sealedAt: null,
  blockedOn: [],
  runSteerable: null,
  stopRequestedAt: null,
  modelId: null,
};
const RUN: Run = { status: 'running', kind: 'message', modelId: 'acme/one' };

const kindOf = (
  thread: Partial<Situation['thread']>,
  runs: Partial<Run>[] = [],
  modelId: string | null = null,
) =>
  outcomeOf({ thread: { ...THREAD, ...thread }, runs: runs.map((run) => ({ ...RUN, ...run })), modelId })
    .kind;

test('with no open run, a message starts one', () => {
  expect(kindOf({})).toBe('starts');
  expect(kindOf({}, [{ status: 'completed' }, { status: 'failed' }, { status: 'cancelled' }])).toBe('starts');
});

test('a message joins the one run that accepts messages', () => {
  expect(kindOf({ runSteerable: true }, [{}])).toBe('joins');
  expect(kindOf({ runSteerable: true }, [{ status: 'waiting' }])).toBe('joins');
  expect(kindOf({ runSteerable: true, modelId: 'acme/one' }, [{}], 'acme/one')).toBe('joins');
});

test.each<[string, Partial<Situation['thread']>, Partial<Run>[], string | null]>([
  ['the agent takes no messages', { runSteerable: false }, [{}], null],
  ['it has not begun', {}, [{ status: 'queued' }], null],
  ['another one is queued', { runSteerable: true }, [{ status: 'queued' }, {}], null],
  ['it stops', { runSteerable: true, stopRequestedAt: '2026-01-01T00:00:00Z' }, [{}], null],
  ['another model is chosen', { runSteerable: true }, [{}], 'acme/two'],
  ['the thread has another model', { runSteerable: true, modelId: 'acme/two' }, [{}], null],
])('else it queues: %s', (_, thread, runs, modelId) => {
  expect(kindOf(thread, runs, modelId)).toBe('queues');
});

test.each<[string, Partial<Situation['thread']>, Partial<Run>[]]>([
  ['archived', { archivedAt: '2026-01-01T00:00:00Z' }, []],
  ['final', { sealedAt: '2026-01-01T00:00:00Z' }, []],
  ['under an apply', { blockedOn: ['apply:apl_1'] }, []],
  ['under a build', { blockedOn: ['build:bld_1'] }, []],
  ['under repair', { runSteerable: true }, [{ kind: 'repair' }]],
])('a thread that is %s takes none', (_, thread, runs) => {
  expect(kindOf(thread, runs)).toBe('refused');
});

test('the limits of attachments', () => {
  const files = (count: number, size: number) => Array.from({ length: count }, () => ({ name: 'a', size }));
  expect(faultOfFiles(files(5, 1), files(5, 1))).toBeNull();
  expect(faultOfFiles(files(5, 1), files(6, 1))).toMatch('at most 10');
  expect(faultOfFiles(files(1, MOST_BYTES), [])).toBeNull();
  expect(faultOfFiles(files(1, MOST_BYTES), files(1, 1))).toMatch('at most 46 MiB');
});

test('media types are those that the service takes', () => {
  expect(mediaTypeOf('image/png')).toBe('image/png');
  expect(mediaTypeOf('text/plain;charset=utf-8')).toBe('text/plain');
  expect(mediaTypeOf('')).toBe('application/octet-stream');
  expect(mediaTypeOf('no type')).toBe('application/octet-stream');
});

test('a text is neither empty nor too long', () => {
  expect(faultOfText(' \n')).not.toBeNull();
  expect(faultOfText('x'.repeat(LONGEST_TEXT))).toBeNull();
  expect(faultOfText('x'.repeat(LONGEST_TEXT + 1))).toMatch('1 character too long');
});
