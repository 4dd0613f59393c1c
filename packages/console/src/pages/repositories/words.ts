/** What source control says, in words. */
import { HeadraceError, isCode } from '@headrace/client';
import type { CommitStatus, Installation, Repository, ScmPullRequest } from '@headrace/client';

/** The looks of states that the rest of the console has other words for. */
export const LOOK_OF: Record<string, string> = {
  connected: 'ready',
  error: 'failed',
  pending: 'pending',
  success: 'completed',
  failure: 'failed',
  open: 'accepted',
  merged: 'applied',
  closed: 'cancelled',
} satisfies Partial<Record<Installation['status'] | CommitStatus['state'] | ScmPullRequest['state'], string>>;

const PROVIDERS: Record<string, string> = { local: 'This service', github: 'GitHub' };
export const providerName = (provider: string): string => PROVIDERS[provider] ?? provider;

const MANAGERS: Record<string, string> = {
  service: 'the service: every organization has it, and nobody can change it',
  config:
    'the configuration file: change it in config.json under scm.installations, then start the service again',
  api: 'owners and admins, here',
};
export const managerOf = ({ managedBy }: Installation): string => MANAGERS[managedBy] ?? managedBy;

/** What to do about an installation in error. */
export function remedyOf({ error, auth, managedBy }: Installation): string {
  if (error?.code === 'unreachable')
    return 'The service tries again by itself. Check the address, and whether the service may reach it.';
  if (error?.code !== 'access_denied') return '';
  const what =
    auth === 'app'
      ? 'the App may be uninstalled, or its private key deleted'
      : 'the token may have expired or been revoked';
  const renew =
    managedBy === 'config'
      ? 'put another credential into config.json and start the service again'
      : 'give another one with New credential';
  return `At GitHub, ${what}. Mend it there, or ${renew}.`;
}

export const isHosted = ({ provider }: Pick<Repository, 'provider'>): boolean => provider === 'local';

/** What a merge is refused for, with what to do. */
export const MERGE_REASONS: Record<string, string> = {
  conflicting:
    'Its changes are in conflict with the base branch. Merge the base branch into this one, resolve the conflicts and push.',
  draft: 'It is a draft. Mark it as ready first.',
  checks: 'A required check has not succeeded on the newest commit. Its name is among the checks below.',
  review_required: 'A review has to approve it first.',
  method:
    'The repository does not allow this method. Choose another one, or allow it in the repository’s settings.',
  protected: 'The base branch is protected against it.',
};

/** A refusal of source control with what its code and details mean here; anything else as it is. */
export function inWords(error: unknown): unknown {
  if (!(error instanceof HeadraceError)) return error;
  const said = wordsOf(error);
  if (said === null) return error;
  const { status, code, fields, requestId, details, retryAfterMs } = error;
  return new HeadraceError(status, code, said, { fields, requestId, details, retryAfterMs, cause: error });
}

function wordsOf(error: HeadraceError): string | null {
  if (isCode(error, 'merge_refused')) return MERGE_REASONS[error.details.reason] ?? null;
  const { permission, number, headSha } = error.details;
  if (error.code === 'pull_request_exists' && typeof number === 'number')
    return `Number ${number} is already open for these branches. Use that one, or close it first.`;
  if (isCode(error, 'head_moved'))
    return `The branch has moved to ${String(headSha).slice(0, 10)} since you looked. Look at it, then merge.`;
  if (error.code === 'scm_access_denied')
    return typeof permission === 'string'
      ? `GitHub refuses it: the credential lacks the permission “${permission}”. Add it at GitHub, where an owner of the account has to accept it, then try again.`
      : 'The host refuses the credential, or no installation is left. Give a new credential on the page of the installation, or connect the host again.';
  if (error.code === 'scm_repository_gone')
    return 'The host has no such repository any more, or hides it. Look there at its name, and whether the installation may still see it.';
  if (error.code === 'managed_by_config')
    return 'The configuration file or the service itself holds it, so it cannot be changed here.';
  if (error.code === 'repository_in_use')
    return 'A project is bound to it. Delete the project first; the list of repositories leads to it.';
  return null;
}

/** Calls with refusals in words. */
export const worded = async <T>(call: PromiseLike<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    throw inWords(error);
  }
};

export const NAME_RULE = /^(?!.*\.(git|lock)$)[a-z0-9][a-z0-9._-]{0,99}$/;
export const nameFault = (name: string): string | null =>
  name === '' || NAME_RULE.test(name)
    ? null
    : 'Lower-case letters, digits, “.”, “_” and “-”, beginning with a letter or digit, and not ending in .git or .lock.';

export const shortSha = (sha: string): string => sha.slice(0, 10);
