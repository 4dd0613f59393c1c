/** What a delivery of GitHub may be about. Nothing in it is believed: it only says where to look. */
import { isBranchName, isCommitId } from '../../git/ref-names.ts';
import type { Moved, Provider } from '../provider.ts';

const OF_INSTALLATION = new Set([
  'installation',
  'installation_repositories',
  'repository',
  'installation_target',
]);
const OF_REPOSITORY = new Set([
  'push',
  'create',
  'delete',
  'status',
  'check_run',
  'check_suite',
  'workflow_run',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'pull_request_review_thread',
  'issue_comment',
  'merge_group',
]);
const HEADS = 'refs/heads/';
/** A check may be of several pull requests. */
const MAX_NUMBERS = 100;

type Value = Record<string, unknown> | null | undefined;

export const readWebhook: Provider['readWebhook'] = (headers, body) => {
  const event = String(headers['x-github-event'] ?? '');
  const isInstallation = OF_INSTALLATION.has(event);
  if (!isInstallation && !OF_REPOSITORY.has(event)) return null;
  const payload = payloadOf(headers, body);
  if (!payload) return null;
  const id = (payload['repository'] as Value)?.['id'];
  if (!Number.isSafeInteger(id) || isOfNoPull(payload)) return { repository: null, isInstallation };
  return { repository: { externalId: String(id), moved: movedIn(payload) }, isInstallation };
};

/** GitHub sends JSON, or a form with JSON in it, as the hook is set. */
function payloadOf(headers: Record<string, unknown>, body: Buffer): Record<string, unknown> | null {
  try {
    const text = body.toString('utf8');
    const isForm = String(headers['content-type']).startsWith('application/x-www-form-urlencoded');
    const payload: unknown = JSON.parse(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text);
    return typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Whether a delivery is about an issue or a tag. */
function isOfNoPull({ issue, ref, ref_type: type }: Record<string, unknown>): boolean {
  const isIssue = issue !== undefined && !(issue as Value)?.['pull_request'];
  return isIssue || type === 'tag' || (typeof ref === 'string' && ref.startsWith('refs/tags/'));
}

/** The pull requests that a delivery names, else those of its commit or branch. */
function movedIn(payload: Record<string, unknown>): Moved[] {
  const checked = (payload['check_run'] ?? payload['check_suite'] ?? payload['workflow_run']) as Value;
  const several = Array.isArray(checked?.['pull_requests']) ? (checked['pull_requests'] as Value[]) : [];
  const numbers = [
    (payload['pull_request'] as Value)?.['number'],
    (payload['issue'] as Value)?.['number'],
    ...several.slice(0, MAX_NUMBERS).map((one) => one?.['number']),
  ].filter((one): one is number => Number.isSafeInteger(one) && (one as number) > 0);
  if (numbers.length) return numbers.map((number) => ({ number }));
  // A check of a pull request from a fork names none, and a status never does.
  const commitSha = checked?.['head_sha'] ?? payload['sha'];
  if (typeof commitSha === 'string' && isCommitId(commitSha)) return [{ commitSha }];
  const branch = branchIn(payload);
  // A job's payload cannot contain NUL or lone surrogates.
  return isBranchName(branch) && branch.isWellFormed() ? [{ branch }] : [];
}

function branchIn({ ref, ref_type: type }: Record<string, unknown>): string {
  if (typeof ref !== 'string') return '';
  if (type === 'branch') return ref;
  return ref.startsWith(HEADS) ? ref.slice(HEADS.length) : '';
}
