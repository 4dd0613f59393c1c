/** Where a pull request is on its way to the base branch: what it waits for, why it stopped, what a person does about it. */
import type { PullRequestSummary } from '@headrace/client';

/** Where a person goes to do something about it. */
export type Remedy = 'panel' | 'conversation' | 'runs' | 'provider' | 'settings' | 'repositories' | 'usage';

export interface Standing {
  /** For its mark. */
  status: string;
  word: string;
  /** What happened. */
  what: string;
  /** What a person does about it; null where nothing is to be done. */
  todo: string | null;
  remedy: Remedy;
  /** Whether it goes on only after a person did something. */
  isForPerson: boolean;
}

type Reason = Pick<Standing, 'what' | 'todo' | 'remedy'>;

const reason = (remedy: Remedy, what: string, todo: string | null): Reason => ({ remedy, what, todo });

/** By `blockedReason` of a review loop. */
export const BLOCKED: Readonly<Record<string, Reason>> = {
  pass_limit: reason(
    'conversation',
    'As many passes in a row as are allowed did not make it green.',
    'Read the last passes, then send a message with guidance, or push a commit.',
  ),
  no_change: reason(
    'conversation',
    'The last pass ended without a change.',
    'Say in a message what to do. A review thread that you reject is yours to resolve: once all is green, the loop goes on by itself.',
  ),
  stopped: reason(
    'conversation',
    'A person stopped the last pass.',
    'Send a message, or start the loop again.',
  ),
  fix_failed: reason(
    'runs',
    'The run of the last pass failed. The run says why.',
    'Mend the cause, then start the loop again.',
  ),
  not_configured: reason(
    'settings',
    'The agent is the scripted one and has no script.',
    'Configure a model, or write a script into the text at the start of each pass. Then start the loop again.',
  ),
  spend_limit: reason(
    'usage',
    'A spend limit or a budget is used up.',
    'Raise it, or wait until its period ends. Then start the loop again.',
  ),
  merge_conflict: reason(
    'conversation',
    'The update from the base failed, or its conflicts were not resolved. Details are under Update from the base.',
    'Resolve them by a message or a push, then start the loop again.',
  ),
  unresolved_comments: reason(
    'provider',
    'All is green, but review threads or requested changes are open.',
    'Resolve them. The loop then goes on by itself.',
  ),
  merge_refused: reason(
    'provider',
    'The merge was refused: a review or a check is required, the branch is protected, or the way to merge is not allowed. Or its merge queue dropped it.',
    'Meet the rules of the repository. The loop tries again after 15 minutes, or as soon as checks or reviews change.',
  ),
  checks_timeout: reason(
    'provider',
    'Checks still ran when the time to wait for them was over.',
    'Look at the checks. If they end green, the loop goes on by itself.',
  ),
  checks_unavailable: reason(
    'repositories',
    'The credential of the repository may not see checks.',
    'Give the GitHub App the permissions Checks and Commit statuses, then start the loop again.',
  ),
  diverged: reason(
    'panel',
    'The branch and the thread have diverged.',
    'Say under Push whose files count. The loop then goes on by itself.',
  ),
  push_failed: reason(
    'panel',
    'The push was refused.',
    'Mend the cause, then sync. The loop then goes on by itself.',
  ),
};

/** By `lastErrorCode` of a review loop. A run that was lost has the code of its error. */
export const ERRORS: Readonly<Record<string, Reason>> = {
  unavailable: reason(
    'panel',
    'The provider is unavailable or limits the service.',
    'Nothing: the loop looks again every five minutes.',
  ),
  access_denied: reason(
    'repositories',
    'The provider refuses the credential, or no installation is left.',
    'Renew the credential. The loop goes on after its next look.',
  ),
  repository_gone: reason(
    'repositories',
    'The repository is gone, or the credential no longer sees it.',
    'Give the credential access to it again.',
  ),
};

const LOST = reason(
  'runs',
  'The run of the last pass was lost four times.',
  'Look at the service and at the model’s provider. Start the loop again, or wait five minutes.',
);

/** By `push.error.code`. */
export const PUSH_ERRORS: Readonly<Record<string, Reason>> = {
  access_denied: reason(
    'repositories',
    'The credential may not push to the branch.',
    'Give it the right to write, then sync.',
  ),
  protected: reason(
    'provider',
    'The branch is protected against the push.',
    'Let the service push to it at the provider, then sync.',
  ),
  branch_gone: reason(
    'provider',
    'The branch is gone at the provider.',
    'Restore it there, then sync; or close this pull request and open another one.',
  ),
};

/** By `disabledBy` of a review loop. */
export const DISABLED: Readonly<Record<string, string>> = {
  user: 'A person switched it off.',
  system:
    'It ended with what it worked for: the pull request was merged or closed, the thread archived or deleted, or the installation removed.',
  transferred: 'Another thread has taken over the pull request.',
};

export function standingOf(pull: PullRequestSummary): Standing {
  if (pull.state === 'merged') return rests('merged', `Merged into ${pull.baseRef}.`, null);
  if (pull.state === 'closed') return rests('closed', 'Closed without a merge.', 'Open it again to go on.');
  if (isTransferred(pull)) return rests('disabled', DISABLED['transferred']!, null, 'taken over');
  return ofPush(pull) ?? ofLoop(pull) ?? ofProvider(pull);
}

/** Another thread pushes to its branch now: this one can change neither. Known only of one that had a loop. */
export const isTransferred = ({ reviewLoop }: PullRequestSummary): boolean =>
  reviewLoop?.disabledBy === 'transferred';

/** Goes on by itself, or is over. */
const rests = (status: string, what: string, todo: string | null, word = status): Standing => ({
  status,
  word,
  what,
  todo,
  remedy: 'panel',
  isForPerson: false,
});

const blocked = (given: Reason, status = 'blocked', word = status): Standing => ({
  ...given,
  status,
  word,
  isForPerson: true,
});

function ofPush({ push, update }: PullRequestSummary): Standing | null {
  if (push.status === 'diverged') return blocked(divergedBy(push), 'diverged');
  if (push.status === 'failed') return blocked(pushFailed(push), 'failed', 'push failed');
  if (update?.status === 'running')
    return rests('running', 'The base branch is being brought in.', null, 'updating');
  if (push.status === 'pending')
    return rests('pending', 'The newest files are being pushed.', null, 'pushing');
  return null;
}

type Push = PullRequestSummary['push'];

export function divergedBy({ reason: why, conflicts }: Push): Reason {
  const what =
    why === 'rewritten'
      ? 'The branch was rewritten: the commit that the service pushed is no longer on it.'
      : conflicts.length > 0
        ? `Commits of others conflict with the thread’s in ${conflicts.length === 1 ? 'one path' : `${conflicts.length} paths`}.`
        : 'Commits of others conflict with the thread’s.';
  return { ...BLOCKED['diverged']!, what, todo: 'Say whose files count.' };
}

export const pushFailed = ({ error }: Push): Reason =>
  PUSH_ERRORS[error?.code ?? ''] ?? {
    ...BLOCKED['push_failed']!,
    ...(error && { what: error.message }),
    todo: 'Mend the cause, then sync.',
  };

type Loop = NonNullable<PullRequestSummary['reviewLoop']>;

function ofLoop(pull: PullRequestSummary): Standing | null {
  const { reviewLoop: loop } = pull;
  return loop?.enabled ? standingOfLoop(pull, loop) : null;
}

/** Of a loop that is on. */
export function standingOfLoop(pull: PullRequestSummary, loop: Loop): Standing {
  switch (loop.status) {
    case 'blocked':
      return blocked(blockedBy(loop.blockedReason ?? ''));
    case 'error':
      return ofError(loop);
    case 'ready':
      return {
        ...rests('ready', 'All is green.', 'Merge it, or let the loop merge by itself.'),
        isForPerson: true,
      };
    case 'fixing':
      return rests('fixing', `The agent works on what is wrong: pass ${loop.passCount} in a row.`, null);
    case 'finalizing':
      return rests(
        'finalizing',
        pull.scmSummary?.mergeQueued ? 'It is in the merge queue of the provider.' : 'It is being merged.',
        null,
        'merging',
      );
    case 'waiting_checks':
      return rests('waiting_checks', checksRunning(pull), null, 'waiting for checks');
    case 'observing':
      return rests('observing', 'The loop looks at checks, reviews and the base branch.', null);
    default:
      return rests(loop.status, 'This console does not know this state.', null);
  }
}

const blockedBy = (code: string): Reason =>
  BLOCKED[code] ?? reason('panel', `The loop says: ${code}.`, 'Mend the cause, then start the loop again.');

/** An error that the loop tries again by itself is none for a person. */
function ofError({ lastErrorCode, lastErrorMessage }: Loop): Standing {
  const known = ERRORS[lastErrorCode ?? ''] ?? { ...LOST, what: lastErrorMessage ?? LOST.what };
  return { ...blocked(known, 'error'), isForPerson: lastErrorCode !== 'unavailable' };
}

function checksRunning({ scmSummary }: PullRequestSummary): string {
  const { total = 0, running = 0 } = scmSummary?.checks ?? {};
  return running === 0
    ? 'It waits for checks, for the provider, or until the thread is idle.'
    : `Checks run: ${total - running} of ${total} are done.`;
}

/** Without a review loop: what the provider says. A person who looks after it by hand is not called for it. */
function ofProvider(pull: PullRequestSummary): Standing {
  const { scmSummary: summary } = pull;
  if (!summary) return rests('open', 'The provider was not asked yet.', null);
  if (summary.mergeQueued)
    return rests('finalizing', 'It is in the merge queue of the provider.', null, 'merge queue');
  if (summary.mergeable === 'conflicting')
    return rests(
      'conflicted',
      'It conflicts with its base branch.',
      'Bring the base branch in.',
      'conflicted',
    );
  if (summary.checks.failing > 0)
    return rests(
      'failed',
      `${summary.checks.failing} of ${summary.checks.total} checks fail.`,
      'Have the review loop mend them, or send a message.',
      'checks fail',
    );
  if (summary.checks.running > 0)
    return rests('waiting_checks', checksRunning(pull), null, 'waiting for checks');
  if (summary.mergeable === 'unknown')
    return rests('open', 'The provider does not say yet whether it can be merged.', null);
  if (pull.draft) return rests('open', 'It is a draft.', 'Mark it as ready for review to merge it.', 'draft');
  return notKnownGreen(summary) ?? rests('ready', 'All is green.', 'Merge it.');
}

type Summary = NonNullable<PullRequestSummary['scmSummary']>;

function notKnownGreen({
  checks,
  checksAvailable,
  commentsAvailable,
  unresolvedCount,
}: Summary): Standing | null {
  if (unresolvedCount > 0)
    return rests(
      'open',
      `${unresolvedCount === 1 ? 'One review thread is' : `${unresolvedCount} review threads are`} open.`,
      'Resolve them before the merge, or have the review loop work on them.',
      'open reviews',
    );
  if (!checksAvailable)
    return rests(
      'open',
      'The credential of the repository may not see checks.',
      'Look at them at the provider before you merge.',
      'checks not seen',
    );
  if (!commentsAvailable)
    return rests(
      'open',
      'The credential of the repository may not see reviews.',
      'Look at them at the provider before you merge.',
      'reviews not seen',
    );
  // Those of a new commit come some seconds later.
  if (checks.total === 0)
    return rests(
      'open',
      'It has no checks, or none has begun yet.',
      'Merge it if none is to come.',
      'no checks',
    );
  return null;
}
