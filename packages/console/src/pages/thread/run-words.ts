/** What a run's state and its end mean, and what to do. */
import type { Run, Thread } from '@headrace/client';

type Code = NonNullable<Run['error']>['code'];

const NEXT: Record<Code, string> = {
  script_failed: 'Its output is under Tools. Correct the command and send it again.',
  agent_error: 'The agent ended with a fault. Try again, or say differently what to do.',
  model_error: 'The model’s provider refused or failed. Try again, or choose another model.',
  spend_limit_reached: 'Raise the thread’s spend limit, then try again.',
  invalid_result: 'What the agent left is no valid source. Say what to leave out, and send it again.',
  not_configured: 'Choose another model, or let an owner add a key for this provider.',
  sandbox_lost: 'Nothing was wrong with the work itself. Try again.',
  worker_lost: 'Nothing was wrong with the work itself. Try again.',
  host_lost:
    'Nothing was wrong with the work itself. Its files are as it left them; once the host is back, try again.',
  workspace_unavailable: 'Nothing was wrong with the work itself. Try again.',
};

const TITLES: Record<Code, string> = {
  script_failed: 'A command failed',
  agent_error: 'The agent failed',
  model_error: 'The model failed',
  spend_limit_reached: 'The spend limit is reached',
  invalid_result: 'The result is not valid',
  not_configured: 'The model is not configured',
  sandbox_lost: 'The sandbox was lost',
  worker_lost: 'The worker was lost',
  host_lost: 'The host was lost',
  workspace_unavailable: 'There was no workspace',
};

/** A code that this console does not know is shown as it is. */
export const errorTitle = (code: string): string => TITLES[code as Code] ?? code;
export const errorNext = (code: string): string => NEXT[code as Code] ?? 'Try again.';

const KINDS: Record<string, string> = { restore: 'Restore', repair: 'Repair', retry: 'Retry' };
export const kindWord = (kind: string): string | null => (kind === 'message' ? null : (KINDS[kind] ?? kind));

const PHASES: Record<string, string> = {
  provisioning_workspace: 'A workspace is made.',
  resolving_repository: 'The repository is looked up.',
  allocating_sandbox: 'A sandbox is looked for.',
  fetching_repository: 'The repository is fetched.',
  configuring_workspace: 'The workspace is set up.',
  dispatching_run: 'The run is handed over.',
};

type State = Pick<
  Thread,
  | 'initializationState'
  | 'initializationPhase'
  | 'initializationErrorMessage'
  | 'waitingOn'
  | 'blockedOn'
  | 'pendingWakeups'
  | 'stopRequestedAt'
  | 'archivedAt'
  | 'setupId'
  | 'workspaceSetupStatus'
>;

/** What the thread waits for, one sentence each. */
export function reasonsOf(thread: State): string[] {
  if (thread.archivedAt !== null) return ['Archived: it can be read, and taken out of the archive.'];
  const reasons: string[] = [];
  if (thread.initializationState === 'failed')
    // The message says what to do first.
    reasons.push(
      ['The thread could not be set up.', thread.initializationErrorMessage, 'A message to it tries again.']
        .filter(Boolean)
        .join(' '),
    );
  else if (isPreparing(thread))
    reasons.push(PHASES[thread.initializationPhase ?? ''] ?? 'The thread is set up.');
  if (thread.stopRequestedAt !== null) reasons.push('The run is being stopped.');
  if (thread.waitingOn.includes('capacity'))
    reasons.push('A run waits for a free place: other runs go first.');
  if (thread.waitingOn.some((one) => one.startsWith('host:')))
    reasons.push('It waits for its host, which is offline.');
  for (const blocker of thread.blockedOn) reasons.push(blockedBy(blocker.split(':')[0] ?? blocker));
  if (thread.pendingWakeups > 1) reasons.push(`${thread.pendingWakeups} runs are queued.`);
  return reasons;
}

/** The wait for the app's setup, a part of that, has a line of its own. */
const isPreparing = ({ initializationState, setupId, workspaceSetupStatus }: State): boolean =>
  (initializationState === 'accepted' || initializationState === 'preparing') &&
  !(setupId !== null && workspaceSetupStatus === 'running');

function blockedBy(kind: string): string {
  if (kind === 'apply') return 'An apply is under way: messages wait until it has ended.';
  if (kind === 'build') return 'A build is under way: messages wait until it has ended.';
  return `${kind} is under way.`;
}
