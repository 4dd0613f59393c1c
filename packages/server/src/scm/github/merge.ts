/** Merging a pull request at GitHub, and what its refusals mean. */
import type { AtRepository, MergeRefusal, Provider, ProviderPullRequest } from '../provider.ts';
import { ProviderError } from '../provider.ts';
import { askRepository } from './ask.ts';
import type { Connection } from './connection.ts';
import { faultOf, messageOf, statusOf } from './faults.ts';
import { ENQUEUE, expectQueue, isInMergeQueue } from './merge-queue.ts';
import { readPull } from './pull-requests.ts';

type Pull = ProviderPullRequest & { nodeId: string };

/** What GitHub says, and what it means, the more special first. */
const REFUSALS: [RegExp, MergeRefusal][] = [
  [/draft/i, 'draft'],
  [/merge conflict|conflicts? must be resolved/i, 'conflicting'],
  [/review|approv|code owner|changes? (have been|were) requested/i, 'review_required'],
  [/status check|required check|check(s)? (is|are)|deployment|workflow/i, 'checks'],
  [
    /(merge commits|squash merges|squash commits|rebase merges|rebase|squash)[^.]*not allowed|can.?t be rebased|linear history|merge method/i,
    'method',
  ],
];

export const mergePullRequest: Provider['mergePullRequest'] = (at, number, how) =>
  askRepository(at, async (connection, place) => {
    const pull = { ...place, pull_number: number };
    const before = await readPull(at, connection, pull);
    if (before.state !== 'open') throw new ProviderError({ code: 'not_open' }, 'it is not open');
    if (how.expectedHeadSha !== undefined && how.expectedHeadSha !== before.headSha)
      throw new ProviderError({ code: 'head_moved', headSha: before.headSha }, 'its head moved');
    try {
      await connection.octokit.rest.pulls.merge({
        ...pull,
        merge_method: how.method,
        // Also where nobody asks for it: what was looked at is merged, and nothing that came meanwhile.
        sha: before.headSha,
        ...(how.title === undefined ? {} : { commit_title: how.title }),
        ...(how.message === undefined ? {} : { commit_message: how.message }),
      });
    } catch (error) {
      return afterRefusal(error, { at, connection, before });
    }
    const { nodeId: _, ...merged } = await readPull(at, connection, pull);
    return merged;
  });

interface Refused {
  at: AtRepository;
  connection: Connection;
  before: Pull;
}

async function afterRefusal(error: unknown, refused: Refused): Promise<ProviderPullRequest> {
  const { at, connection, before } = refused;
  const status = statusOf(error);
  if (status !== 405 && status !== 409 && status !== 422) throw error;
  const said = messageOf(error);
  if (/merge queue/i.test(said)) return enqueue(refused);
  const [owner, repo] = at.repository.full_name.split('/') as [string, string];
  const now = await readPull(at, connection, { owner, repo, pull_number: before.number });
  if (now.state !== 'open') throw new ProviderError({ code: 'not_open' }, said);
  if (now.headSha !== before.headSha)
    throw new ProviderError({ code: 'head_moved', headSha: now.headSha }, said);
  throw new ProviderError({ code: 'merge_refused', reason: reasonOf(said, now) }, said);
}

function reasonOf(said: string, now: ProviderPullRequest): MergeRefusal {
  if (now.draft) return 'draft';
  const [, known] = REFUSALS.find(([text]) => text.test(said)) ?? [];
  if (known) return known;
  if (now.mergeable === 'conflicting') return 'conflicting';
  // "Pull Request is not mergeable" is all that GitHub says of conflicts that it has not looked for yet.
  return /not mergeable/i.test(said) && now.mergeable === 'unknown' ? 'conflicting' : 'protected';
}

async function enqueue({ at, connection, before }: Refused): Promise<ProviderPullRequest> {
  const { nodeId: id, ...open } = before;
  expectQueue(at, open);
  try {
    await connection.octokit.graphql(ENQUEUE, { id, head: open.headSha });
  } catch (error) {
    // GitHub refuses a pull request that is already in the queue.
    const isRefused = faultOf(error).fault.code === 'unsupported';
    if (!isRefused || !(await isInMergeQueue(at, connection, open))) throw error;
  }
  return { ...open, mergeQueued: true };
}
