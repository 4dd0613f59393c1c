/** Where a pull request is on its way to the base branch, in words: what it waits for, why it stopped, what helps. */
import type { PullRequestSummary } from '@headrace/client';

export interface Standing {
  /** `ready`: only a person's merge is missing. */
  kind: 'merged' | 'closed' | 'blocked' | 'ready' | 'waiting';
  why: string;
  /** The command or step that helps. */
  next?: string;
  /** A conflict or a refusal, not a failure. */
  isConflict?: boolean;
}

type Reason = Pick<Standing, 'why' | 'next' | 'isConflict'>;

const GUIDE = 'headrace send THREAD TEXT';
const AGAIN = 'headrace pr loop on';

/** By `blockedReason` of a review loop. */
export const BLOCKED: Readonly<Record<string, Reason>> = {
  pass_limit: {
    why: 'so many passes in a row did not make it green',
    next: `give guidance: ${GUIDE}, or push a commit`,
  },
  no_change: { why: 'the agent’s last pass changed nothing', next: `say what to do: ${GUIDE}` },
  stopped: { why: 'a person stopped the pass', next: `${GUIDE}, or ${AGAIN}` },
  fix_failed: { why: 'the run of the last pass failed', next: `fix the cause, then ${AGAIN}` },
  not_configured: {
    why: 'the agent is `scripted` and has no script',
    next: `configure a model, or a script in the settings’ reviewLoop.instructions, then ${AGAIN}`,
  },
  spend_limit: {
    why: 'a spend limit or budget is used up',
    next: `raise it, or wait for the end of its period, then ${AGAIN}`,
  },
  merge_conflict: {
    why: 'it conflicts with its base branch, and the agent did not resolve that',
    next: `${GUIDE}, or push a resolution, then ${AGAIN}`,
    isConflict: true,
  },
  unresolved_comments: {
    why: 'everything is green, but review threads are open',
    next: 'resolve them: headrace pr comments; the loop then goes on by itself',
  },
  merge_refused: {
    why: 'the host refused the merge: a review or check is required, the branch is protected, or the method is not allowed',
    next: 'meet the rules of the host; the loop tries again after 15 minutes',
    isConflict: true,
  },
  checks_timeout: {
    why: 'its checks did not end in time',
    next: 'look at CI; the loop goes on by itself when they end green',
  },
  checks_unavailable: {
    why: 'the credential may not see checks',
    next: `give the GitHub App the permissions Checks and Commit statuses, then ${AGAIN}`,
  },
  diverged: {
    why: 'others’ commits conflict with the thread’s, or the branch was rewritten',
    next: 'headrace pr sync --take branch, or --take thread',
    isConflict: true,
  },
  push_failed: { why: 'the host refused the push', next: 'fix the cause, then headrace pr sync' },
};

/** By `lastErrorCode` of a review loop. */
export const ERRORS: Readonly<Record<string, Reason>> = {
  unavailable: {
    why: 'the host is unavailable or limits us',
    next: 'nothing: the loop looks again every 5 minutes',
  },
  access_denied: {
    why: 'the host refuses the credential, or no installation is left',
    next: 'headrace installations update',
  },
  repository_gone: {
    why: 'the repository is gone, or the credential no longer sees it',
    next: 'restore its access',
  },
};

/** By `push.error.code`. */
const PUSH_ERRORS: Readonly<Record<string, string>> = {
  access_denied: 'the credential may not push',
  protected: 'the branch is protected',
  branch_gone: 'the branch is gone',
};

export function standingOf(pr: PullRequestSummary): Standing {
  if (pr.state === 'merged') return { kind: 'merged', why: `merged into ${pr.baseRef}` };
  if (pr.state === 'closed')
    return { kind: 'closed', why: 'closed without a merge', next: 'headrace pr update --reopen' };
  return ofPush(pr) ?? ofLoop(pr) ?? ofProvider(pr);
}

function ofPush({ push, update }: PullRequestSummary): Standing | undefined {
  if (push.status === 'diverged')
    return {
      kind: 'blocked',
      ...BLOCKED['diverged']!,
      ...(push.conflicts.length > 0 && { why: `others’ commits conflict in ${push.conflicts.join(', ')}` }),
    };
  if (push.status === 'failed') {
    const why = PUSH_ERRORS[push.error?.code ?? ''] ?? push.error?.message;
    return {
      kind: 'blocked',
      ...BLOCKED['push_failed']!,
      ...(why && { why: `the host refused the push: ${why}` }),
    };
  }
  if (update?.status === 'running') return { kind: 'waiting', why: 'the base branch is being brought in' };
  if (push.status === 'pending') return { kind: 'waiting', why: 'the newest files are being pushed' };
  return undefined;
}

function ofLoop(pr: PullRequestSummary): Standing | undefined {
  const { reviewLoop: loop } = pr;
  if (!loop?.enabled) return undefined;
  switch (loop.status) {
    case 'blocked':
      return { kind: 'blocked', ...blockedBy(loop.blockedReason ?? '') };
    case 'error':
      return ofError(loop);
    case 'ready':
      return READY;
    case 'fixing':
      return { kind: 'waiting', why: `the agent works on it, pass ${loop.passCount}` };
    case 'finalizing':
      return {
        kind: 'waiting',
        why: pr.scmSummary?.mergeQueued ? 'it is in the merge queue' : 'it is being merged',
      };
    case 'waiting_checks':
      return { kind: 'waiting', why: checksRunning(pr) };
    default:
      return { kind: 'waiting', why: 'the review loop looks at it' };
  }
}

type Loop = NonNullable<PullRequestSummary['reviewLoop']>;

export const blockedBy = (reason: string): Reason => BLOCKED[reason] ?? { why: reason, next: AGAIN };

/** An error that the loop tries again by itself is a wait. */
function ofError({ lastErrorCode, lastErrorMessage }: Loop): Standing {
  const known = ERRORS[lastErrorCode ?? ''];
  const why = known?.why ?? lastErrorMessage ?? 'the run of the last pass was lost four times';
  return { kind: lastErrorCode === 'unavailable' ? 'waiting' : 'blocked', next: AGAIN, ...known, why };
}

const READY: Standing = {
  kind: 'ready',
  why: 'everything is green: it can be merged',
  next: 'headrace pr merge',
};

function checksRunning({ scmSummary }: PullRequestSummary): string {
  const { total = 0, running = 0 } = scmSummary?.checks ?? {};
  return running === 0
    ? 'it waits for checks'
    : `checks are running: ${total - running} of ${total} are done`;
}

/** Without a review loop: what the host says of it. */
function ofProvider(pr: PullRequestSummary): Standing {
  const { scmSummary: summary } = pr;
  if (!summary) return { kind: 'waiting', why: 'the host has not been asked yet' };
  if (summary.mergeQueued) return { kind: 'waiting', why: 'it is in the merge queue' };
  if (summary.mergeable === 'conflicting')
    return {
      kind: 'blocked',
      why: 'it conflicts with its base branch',
      next: 'headrace pr update-branch',
      isConflict: true,
    };
  if (summary.checks.running > 0) return { kind: 'waiting', why: checksRunning(pr) };
  if (summary.checks.failing > 0)
    return {
      kind: 'blocked',
      why: `${summary.checks.failing} of ${summary.checks.total} checks fail`,
      next: 'headrace pr checks; headrace pr loop on has the agent fix them',
    };
  if (summary.mergeable === 'unknown')
    return { kind: 'waiting', why: 'the host computes whether it can be merged' };
  if (pr.draft) return { kind: 'ready', why: 'it is a draft', next: 'headrace pr update --ready' };
  return READY;
}
