import type { PullRequestSummary } from '@headrace/client';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostedAt } from './address.ts';
import { isLeftOut, pushedOf } from './pushed.ts';
import { BLOCKED, DISABLED, ERRORS, standingOf } from './standing.ts';

const checks = { total: 2, succeeded: 2, failing: 0, running: 0 };
const summary = {
  state: 'open',
  draft: false,
  mergeable: 'mergeable',
  mergeQueued: false,
  checks,
  checksAvailable: true,
  commentsAvailable: true,
  unresolvedCount: 0,
};
const pull = (more: object = {}) =>
  ({
    state: 'open',
    draft: false,
    baseRef: 'main',
    push: { status: 'current', reason: null, conflicts: [], error: null },
    update: null,
    reviewLoop: null,
    scmSummary: summary,
    ...more,
  }) as unknown as PullRequestSummary;
const loop = (status: string, more: object = {}) => ({
  reviewLoop: { enabled: true, status, passCount: 2, ...more },
});
const said = (more: object) => {
  const { status, isForPerson, remedy } = standingOf(pull(more));
  return `${status} ${isForPerson ? remedy : '-'}`;
};

describe('where a pull request stands', () => {
  test('what is over rests', () => {
    expect(said({ state: 'merged', ...loop('disabled') })).toBe('merged -');
    expect(said({ state: 'closed' })).toBe('closed -');
  });

  test('a push that stopped is said before the loop that it stops', () => {
    const push = { status: 'diverged', reason: 'conflict', conflicts: ['a', 'b'], error: null };
    const more = { push, ...loop('blocked', { blockedReason: 'diverged' }) };
    expect(said(more)).toBe('diverged panel');
    expect(standingOf(pull(more)).what).toContain('2 paths');
    const failed = { ...push, status: 'failed', error: { code: 'protected', message: 'no' } };
    expect(said({ push: failed })).toBe('failed provider');
    const unknown = { ...failed, error: { code: 'odd', message: 'It says no.' } };
    expect(standingOf(pull({ push: unknown })).what).toBe('It says no.');
  });

  test('a loop at work calls nobody; one that is green without a merge does', () => {
    for (const status of ['observing', 'waiting_checks', 'fixing', 'finalizing'])
      expect(said(loop(status))).toBe(`${status} -`);
    expect(said(loop('ready'))).toBe('ready panel');
    expect(said(loop('new_state'))).toBe('new_state -');
  });

  test('an error that passes by itself calls nobody, a lost run does', () => {
    expect(said(loop('error', { lastErrorCode: 'unavailable' }))).toBe('error -');
    expect(said(loop('error', { lastErrorCode: 'access_denied' }))).toBe('error repositories');
    const lost = loop('error', { lastErrorCode: 'sandbox_lost', lastErrorMessage: 'The sandbox was lost.' });
    expect(said(lost)).toBe('error runs');
    expect(standingOf(pull(lost)).what).toBe('The sandbox was lost.');
  });

  test('without a loop, the provider’s words, worst first', () => {
    const at = (more: object) => said({ scmSummary: { ...summary, ...more } });
    expect(at({ mergeable: 'conflicting' })).toBe('conflicted -');
    expect(at({ checks: { ...checks, failing: 1, running: 1 } })).toBe('failed -');
    expect(at({ checks: { ...checks, running: 1 } })).toBe('waiting_checks -');
    expect(at({})).toBe('ready -');
    expect(said({ scmSummary: null })).toBe('open -');
  });

  test('without a loop, it is green only where all is known to be', () => {
    const at = (more: object) => standingOf(pull({ scmSummary: { ...summary, ...more } }));
    expect(at({ unresolvedCount: 2 })).toMatchObject({ status: 'open', what: '2 review threads are open.' });
    expect(at({ checksAvailable: false, checks: { ...checks, total: 0 } })).toMatchObject({
      status: 'open',
      word: 'checks not seen',
    });
    expect(at({ commentsAvailable: false })).toMatchObject({ status: 'open', word: 'reviews not seen' });
    expect(at({ checks: { ...checks, total: 0, succeeded: 0 } })).toMatchObject({
      status: 'open',
      word: 'no checks',
    });
  });

  test('one that another thread has taken over calls nobody, however its push stopped', () => {
    const push = { status: 'diverged', reason: 'conflict', conflicts: [], error: null };
    const taken = { push, ...loop('disabled', { enabled: false, disabledBy: 'transferred' }) };
    expect(said(taken)).toBe('disabled -');
    expect(standingOf(pull(taken)).what).toBe(DISABLED['transferred']);
    expect(pushedOf(pull(taken), 'src_1').word).toBe('Another thread pushes to the branch');
  });

  test('what goes on is not said as done', () => {
    expect(standingOf(pull(loop('finalizing'))).what).toBe('It is being merged.');
    const push = { status: 'pending', reason: null, conflicts: [], error: null };
    expect(standingOf(pull({ push })).what).toBe('The newest files are being pushed.');
    expect(standingOf(pull(loop('waiting_checks'))).what).toContain('until the thread is idle');
  });
});

describe('whether the branch holds the thread’s files', () => {
  const at = (headSourceId: string | null, status = 'current') =>
    pull({ headSourceId, push: { status, reason: null, conflicts: [], error: null } });

  test('a push that is switched off holds the newest only where it does', () => {
    expect(pushedOf(at('src_1'), 'src_1').status).toBe('current');
    expect(pushedOf(at('src_1'), 'src_2').word).toBe('The thread has newer files that are not pushed');
    expect(pushedOf(at(null), 'src_2').word).toContain('yet to be taken over');
  });

  test('a merge leaves out what is not there yet', () => {
    expect(isLeftOut(at('src_1'), 'src_1')).toBe(false);
    expect(isLeftOut(at('src_1'), 'src_2')).toBe(true);
    expect(isLeftOut(at('src_1', 'pending'), 'src_1')).toBe(true);
  });
});

test('each reason of the guide has its words, and a new one is shown as it is', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/review-loop.md'), 'utf8');
  const of = (heading: string) => {
    const rows = guide
      .slice(guide.indexOf(`| ${heading}`))
      .split('\n\n')[0]!
      .split('\n')
      .slice(2);
    return rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, code]) => code!));
  };
  expect(Object.keys(BLOCKED)).toEqual(of('`blockedReason` |'));
  expect(of('`lastErrorCode`')).toEqual(expect.arrayContaining(Object.keys(ERRORS)));
  expect(Object.keys(DISABLED)).toEqual(of('`disabledBy` | |'));
  expect(standingOf(pull(loop('blocked', { blockedReason: 'moon' }))).what).toBe('The loop says: moon.');
});

test('a hosted pull request has a page of the console', () => {
  const url = 'http://127.0.0.1:4400/api/source-control/scm/repositories/repo_1/pull-requests/7';
  expect(hostedAt(url)).toEqual({ repositoryId: 'repo_1', number: '7' });
  expect(hostedAt('https://github.com/acme/site/pull/7')).toBeNull();
});
