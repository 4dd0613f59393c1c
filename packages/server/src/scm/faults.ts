/** What a provider refuses, as the API says it. */
import { ApiError, notFound } from '../http/errors.ts';
import { retryHeaders } from '../http/rate-limit.ts';
import { ProviderError } from './provider.ts';
import type { MergeRefusal } from './provider.ts';

const REFUSALS: Record<MergeRefusal, string> = {
  conflicting: 'The changes are in conflict with the base branch. Bring the base into the branch first.',
  draft: 'It is a draft. Mark it as ready first.',
  checks: 'A required check has not succeeded on the newest commit.',
  review_required: 'It takes a review that approves it.',
  method: 'The repository does not allow this merge method.',
  protected: 'The base branch is protected against it.',
};

export const accessDenied = (permission?: string) =>
  new ApiError(
    'scm_access_denied',
    'The source control host refuses the credential, or no installation is left. Renew the credential, or connect the host again.',
    { details: permission === undefined ? {} : { permission } },
  );
export const repositoryGone = () =>
  new ApiError(
    'scm_repository_gone',
    'The source control host has no such repository any more, or hides it. Check the name and the access of the installation.',
  );
export const unsupported = () =>
  new ApiError(
    'unsupported_by_provider',
    'This operation is only for repositories that this service hosts. Use the source control host instead.',
  );

/** A ProviderError as the API's refusal; anything else as it is. */
export function scmFault(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { fault } = error;
  switch (fault.code) {
    case 'access_denied':
      return accessDenied(fault.permission);
    case 'gone':
      return repositoryGone();
    case 'not_found':
      return notFound(fault.what ?? 'branch');
    case 'unavailable':
      return new ApiError('unavailable', 'The source control host is unavailable. Retry later.', {
        headers: retryHeaders(fault.retryAfterSeconds ?? 5),
        cause: error,
      });
    case 'merge_refused':
      return new ApiError('merge_refused', REFUSALS[fault.reason], { details: { reason: fault.reason } });
    case 'head_moved':
      return new ApiError('head_moved', 'The branch has moved. Read it again, then repeat the request.', {
        details: { headSha: fault.headSha },
      });
    case 'exists':
      return new ApiError(
        'pull_request_exists',
        'A pull request for these branches is already open. Use that one, or close it first.',
        {
          details: fault.number === null ? {} : { number: fault.number },
        },
      );
    case 'no_changes':
      return new ApiError(
        'no_changes',
        'The branch has no commits that the base branch lacks. Push a commit first.',
      );
    case 'not_open':
      return new ApiError('pull_request_not_open', 'The pull request is not open.');
    case 'unsupported':
      return unsupported();
  }
}
