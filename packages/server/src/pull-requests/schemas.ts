import Type from 'typebox';
import { Counter, Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';
import { LOOP_STATUSES } from './loop-state.ts';

export const MAX_TITLE = 256;
export const MAX_BODY = 65_536;

const Sha = Text('9b6f3c1e0d5a4b2c8e7f6a5d4c3b2a1908f7e6d5');
const Failure = Type.Object({ code: Text('protected'), message: Text('The branch is protected.') });
const Conflicts = Type.Array(Text('src/app.js'), { examples: [[]] });

const ScmSummary = Type.Object({
  state: Enum(['open', 'closed', 'merged']),
  draft: Type.Boolean(),
  mergeable: Enum(['mergeable', 'conflicting', 'unknown']),
  mergeQueued: Type.Boolean(),
  checks: Type.Object({ total: Counter, succeeded: Counter, failing: Counter, running: Counter }),
  checksAvailable: Type.Boolean(),
  commentsAvailable: Type.Boolean(),
  unresolvedCount: Counter,
});

const ReviewLoop = Type.Object({
  id: Id('rvl'),
  threadId: Id('thr'),
  pullRequestId: Id('pr'),
  enabled: Type.Boolean(),
  autoMerge: Type.Boolean(),
  status: Enum(LOOP_STATUSES),
  disabledBy: Nullable(Enum(['user', 'system', 'transferred'])),
  headSha: Nullable(Sha),
  lastProcessedHeadSha: Nullable(Sha),
  lastObservedAt: Nullable(Time),
  waitUntil: Nullable(Time),
  lastFixRunId: Nullable(Id('run')),
  lastErrorCode: Nullable(Text('unavailable')),
  lastErrorMessage: Nullable(Text('The provider does not answer.')),
  blockedReason: Nullable(Text('pass_limit')),
  passCount: Counter,
  operationalRetryCount: Counter,
  createdAt: Time,
  updatedAt: Time,
});

/** As lists and threads show it. */
export const ListedPullRequest = Type.Object({
  id: Id('pr'),
  threadId: Id('thr'),
  number: Type.Number({ examples: [7] }),
  url: Text('https://git.example.com/acme/web/pull/7'),
  repoFullName: Text('acme/web'),
  state: Enum(['open', 'closed', 'merged']),
  headRef: Text('headrace/overdue-reminders-w8y0zb'),
  headSha: Sha,
  baseRef: Text('main'),
  draft: Type.Boolean(),
  version: Type.Integer({ minimum: 1, examples: [1] }),
  scmSummary: Nullable(ScmSummary),
  scmSummaryUpdatedAt: Nullable(Time),
  reviewLoop: Nullable(ReviewLoop),
  title: Text('Overdue reminders'),
  headSourceId: Nullable(Id('src', "The thread's source that headSha holds.")),
  autoPush: Type.Boolean(),
  push: Type.Object({
    status: Enum(['current', 'pending', 'diverged', 'failed']),
    reason: Nullable(Enum(['conflict', 'rewritten'])),
    conflicts: Conflicts,
    error: Nullable(Failure),
  }),
  update: Nullable(
    Type.Object({
      status: Enum(['running', 'done', 'conflicted', 'failed']),
      baseSha: Nullable(Sha),
      conflicts: Conflicts,
      error: Nullable(Failure),
    }),
  ),
  mergeCommitSha: Nullable(Sha),
  mergedAt: Nullable(Time),
  createdAt: Time,
  updatedAt: Time,
});

export const PullRequest = Type.Object({
  ...ListedPullRequest.properties,
  body: Text('Reminds customers of overdue invoices.'),
});
