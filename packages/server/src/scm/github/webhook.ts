/** What a delivery of GitHub may be about. Nothing in it is believed: it only says where to look. */
import type { Provider } from '../provider.ts';

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
/** A check may be of several pull requests. */
const MAX_NUMBERS = 100;

type Value = Record<string, unknown> | undefined;

export const readWebhook: Provider['readWebhook'] = (headers, body) => {
  const event = String(headers['x-github-event'] ?? '');
  const isInstallation = OF_INSTALLATION.has(event);
  if (!isInstallation && !OF_REPOSITORY.has(event)) return null;
  const payload = payloadOf(headers, body);
  if (!payload) return null;
  const id = (payload['repository'] as Value)?.['id'];
  if (!Number.isSafeInteger(id)) return { repositories: [], isInstallation };
  const externalId = String(id);
  const numbers = numbersOf(payload);
  return {
    repositories: (numbers.length ? numbers : [null]).map((pullRequest) => ({ externalId, pullRequest })),
    isInstallation,
  };
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

function numbersOf(payload: Record<string, unknown>): number[] {
  const issue = payload['issue'] as Value;
  const checked = (payload['check_run'] ?? payload['check_suite'] ?? payload['workflow_run']) as Value;
  const several = Array.isArray(checked?.['pull_requests']) ? (checked['pull_requests'] as Value[]) : [];
  const candidates = [
    (payload['pull_request'] as Value)?.['number'],
    issue?.['pull_request'] ? issue['number'] : undefined,
    ...several.slice(0, MAX_NUMBERS).map((one) => one?.['number']),
  ];
  return candidates.filter((one): one is number => Number.isSafeInteger(one) && (one as number) > 0);
}
