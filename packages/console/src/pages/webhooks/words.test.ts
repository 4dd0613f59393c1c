import { expect, test } from 'vitest';
import { isAll, toggled, unknownOf } from './event-types.ts';
import { attemptWords, failedWords, outcomeOf, reasonOf, stateOf } from './words.ts';

const attempt = { at: '2026-01-01T00:00:00.000Z', durationMs: 4, response: null };

test('a webhook is enabled, paused by somebody, or disabled by the service', () => {
  expect(stateOf({ disabled: false, disabledReason: null })).toEqual({
    status: 'ready',
    word: 'enabled',
    meaning: null,
  });
  expect(stateOf({ disabled: true, disabledReason: 'user' })).toMatchObject({ word: 'paused' });
  expect(stateOf({ disabled: true, disabledReason: 'gone' }).meaning).toContain('410');
  expect(reasonOf({ disabledReason: 'failures' })).toBe('every attempt failed for days');
  expect(reasonOf({ disabledReason: 'user' })).toBeNull();
});

test('a reason of a newer service is shown as it is', () => {
  expect(stateOf({ disabled: true, disabledReason: 'quota' as 'gone' })).toEqual({
    status: 'failed',
    word: 'disabled',
    meaning: 'The service has disabled it: quota.',
  });
  expect(failedWords('quota')).toBe('quota');
  expect(attemptWords({ error: 'quota' as 'tls' })).toBe('quota');
});

test('each code of a failed delivery has its words', () => {
  for (const code of ['exhausted', 'gone', 'expired', 'overflow', 'platform_app_event'])
    expect(failedWords(code)).toMatch(/^[A-Z].*\.$/);
});

test('an attempt without an answer says what happened in its place', () => {
  expect(outcomeOf({ ...attempt, statusCode: 500, error: 'status' })).toBe('500');
  expect(outcomeOf({ ...attempt, statusCode: null, error: 'timeout' })).toBe('no answer within 15 s');
});

test('a group stands for its types', () => {
  expect(toggled(['run.completed', 'thread.updated'], 'run.*', true)).toEqual(['thread.updated', 'run.*']);
  expect(toggled(['workspace.recovery.updated'], 'workspace.*', true)).toEqual([
    'workspace.recovery.updated',
    'workspace.*',
  ]);
  expect(toggled(['run.*'], 'run.*', false)).toEqual([]);
  expect(unknownOf(['*', 'run.*', 'run.completed', 'moon.risen'])).toEqual(['moon.risen']);
  expect([isAll([]), isAll(['*']), isAll(['run.*'])]).toEqual([true, true, false]);
});
