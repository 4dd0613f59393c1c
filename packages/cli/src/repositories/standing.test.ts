import { readFileSync } from 'node:fs';
import type { PullRequestSummary } from '@headrace/client';
import { expect, test } from 'vitest';
import { BLOCKED, ERRORS, standingOf } from './standing.ts';

const GREEN = {
  state: 'open',
  baseRef: 'main',
  draft: false,
  push: { status: 'current', reason: null, conflicts: [], error: null },
  update: null,
  reviewLoop: null,
  scmSummary: {
    mergeable: 'mergeable',
    mergeQueued: false,
    checks: { total: 2, succeeded: 2, failing: 0, running: 0 },
    checksAvailable: true,
    unresolvedCount: 0,
  },
};
const of = (changes: object) => standingOf({ ...GREEN, ...changes } as unknown as PullRequestSummary);
const seen = (changes: object) => of({ scmSummary: { ...GREEN.scmSummary, ...changes } });
const looped = (loop: object) => of({ reviewLoop: { enabled: true, passCount: 2, ...loop } });
const pushed = (push: object) => of({ push: { ...GREEN.push, ...push } });

test.each([
  [of({}), 'ready', 'everything is green: it can be merged'],
  [of({ draft: true }), 'ready', 'it is a draft'],
  [of({ state: 'merged' }), 'merged', 'merged into main'],
  [of({ state: 'closed' }), 'closed', 'closed without a merge'],
  [of({ scmSummary: null }), 'waiting', 'the host has not been asked yet'],
  [of({ update: { status: 'running' } }), 'waiting', 'the base branch is being brought in'],
  [pushed({ status: 'pending' }), 'waiting', 'the newest files are being pushed'],
  [
    pushed({ status: 'failed', error: { code: 'protected' } }),
    'blocked',
    'the host refused the push: the branch is protected',
  ],
  [pushed({ status: 'diverged', conflicts: ['a.txt'] }), 'blocked', 'others’ commits conflict in a.txt'],
  [seen({ mergeable: 'conflicting' }), 'blocked', 'it conflicts with its base branch'],
  [seen({ mergeable: 'unknown' }), 'waiting', 'the host computes whether it can be merged'],
  [seen({ mergeQueued: true }), 'waiting', 'it is in the merge queue'],
  [
    seen({ checks: { total: 3, succeeded: 1, failing: 1, running: 1 } }),
    'waiting',
    'checks are running: 2 of 3 are done',
  ],
  [seen({ checks: { total: 3, succeeded: 2, failing: 1, running: 0 } }), 'blocked', '1 of 3 checks fail'],
  [looped({ status: 'fixing' }), 'waiting', 'the agent works on it, pass 2'],
  [looped({ status: 'finalizing' }), 'waiting', 'it is being merged'],
  [looped({ status: 'waiting_checks' }), 'waiting', 'it waits for checks'],
  [looped({ status: 'observing' }), 'waiting', 'the review loop looks at it'],
  [looped({ status: 'ready' }), 'ready', 'everything is green: it can be merged'],
  [
    looped({ status: 'blocked', blockedReason: 'no_change' }),
    'blocked',
    'the agent’s last pass changed nothing',
  ],
  [looped({ status: 'blocked', blockedReason: 'of_tomorrow' }), 'blocked', 'of_tomorrow'],
  [
    looped({ status: 'error', lastErrorCode: 'unavailable' }),
    'waiting',
    'the host is unavailable or limits us',
  ],
  [
    looped({ status: 'error', lastErrorCode: 'worker_lost', lastErrorMessage: 'The worker is gone.' }),
    'blocked',
    'The worker is gone.',
  ],
] as const)('%j', (standing, kind, why) => {
  expect(standing).toMatchObject({ kind, why });
});

test('a conflict is told from a failure', () => {
  expect(seen({ mergeable: 'conflicting' }).isConflict).toBe(true);
  expect(looped({ status: 'blocked', blockedReason: 'merge_conflict' }).isConflict).toBe(true);
  expect(looped({ status: 'blocked', blockedReason: 'fix_failed' }).isConflict).toBeUndefined();
});

test('every reason of the guide has words, and help', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/review-loop.md', import.meta.url), 'utf8');
  const reasons = (table: string) =>
    [...(guide.split(`| \`${table}\``)[1]?.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(
      ([, reason]) => reason!,
    );
  expect(Object.keys(BLOCKED).sort()).toEqual(reasons('blockedReason').sort());
  expect(reasons('lastErrorCode` of `error')).toEqual(Object.keys(ERRORS));
  for (const { next } of Object.values(BLOCKED)) expect(next).toBeTruthy();
});
