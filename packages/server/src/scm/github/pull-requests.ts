/** Pull requests at GitHub, apart from merging them. */
import { isCommitId } from '../../git/ref-names.ts';
import type { Provider, AtRepository, ProviderPullRequest } from '../provider.ts';
import { ProviderError } from '../provider.ts';
import { askRepository } from './ask.ts';
import type { Place } from './ask.ts';
import type { Connection } from './connection.ts';
import { messageOf, missing, senseless, statusOf } from './faults.ts';
import { isInMergeQueue } from './merge-queue.ts';
import { plainText } from './repositories.ts';

const MAX_FOUND = 100;

interface GithubPull {
  id: number;
  node_id: string;
  number: number;
  title: string;
  body: string | null;
  state: string;
  draft?: boolean;
  head: { ref: string; sha: string; repo: { id: number } | null };
  base: { ref: string; repo: { id: number } };
  mergeable?: boolean | null;
  merge_commit_sha: string | null;
  merged_at: string | null;
  updated_at: string;
}

function pullRequestOf(at: AtRepository, site: string, found: GithubPull): ProviderPullRequest {
  const { repository } = at;
  // The name of a repository may be another one's by now.
  if (String(found.base?.repo?.id) !== repository.external_id)
    throw new ProviderError({ code: 'gone' }, 'another repository has the name');
  if (!Number.isSafeInteger(found.number) || found.number < 1 || !isCommitId(found.head?.sha))
    throw senseless('a pull request');
  const mergedAt = found.merged_at ? new Date(found.merged_at) : null;
  return {
    number: found.number,
    url: `${site}/${repository.full_name}/pull/${found.number}`,
    title: plainText(found.title),
    body: plainText(found.body),
    state: mergedAt ? 'merged' : found.state === 'open' ? 'open' : 'closed',
    draft: found.draft === true,
    headRef: plainText(found.head.ref),
    headSha: found.head.sha,
    isOwnHead: String(found.head.repo?.id) === repository.external_id,
    baseRef: plainText(found.base.ref),
    mergeable: found.mergeable === true ? 'mergeable' : found.mergeable === false ? 'conflicting' : 'unknown',
    mergeQueued: false,
    // Before the merge it is one that GitHub only tries.
    mergeCommitSha: mergedAt ? found.merge_commit_sha : null,
    mergedAt: mergedAt?.toISOString() ?? null,
    changedAt: typeof found.updated_at === 'string' ? found.updated_at : null,
  };
}

export const findPullRequests: Provider['findPullRequests'] = (at, { headRef, baseRef, state }) =>
  askRepository(at, async ({ octokit, site }, place) => {
    const { data } = await octokit.rest.pulls.list({
      ...place,
      head: `${place.owner}:${headRef}`,
      ...(baseRef === undefined ? {} : { base: baseRef }),
      state,
      sort: 'created',
      direction: 'desc',
      per_page: MAX_FOUND,
    });
    // A filter that GitHub does not understand is one that it ignores.
    return data
      .map((one) => pullRequestOf(at, site, one))
      .filter(
        (one) => one.isOwnHead && one.headRef === headRef && [one.baseRef, undefined].includes(baseRef),
      );
  });

export const createPullRequest: Provider['createPullRequest'] = (
  at,
  { title, body, draft, headRef, baseRef },
) =>
  askRepository(at, async ({ octokit, site }, place) => {
    try {
      const { data } = await octokit.rest.pulls.create({
        ...place,
        title,
        body,
        draft,
        head: headRef,
        base: baseRef,
      });
      return pullRequestOf(at, site, data);
    } catch (error) {
      if (statusOf(error) !== 422) throw error;
      throw refusalOf(error);
    }
  });

/** What a 422 to a new pull request, or to a changed one, means. */
function refusalOf(error: unknown): unknown {
  const said = messageOf(error);
  if (/already exists/i.test(said)) return new ProviderError({ code: 'exists', number: null }, said);
  if (/no commits between/i.test(said)) return new ProviderError({ code: 'no_changes' }, said);
  if (/\b(base|head) is invalid|invalid value for .?(base|head)/i.test(said))
    return new ProviderError({ code: 'not_found' }, said);
  return error;
}

export async function readPull(
  at: AtRepository,
  { octokit, site }: Connection,
  pull: Place & { pull_number: number },
): Promise<ProviderPullRequest & { nodeId: string }> {
  const { data } = await octokit.rest.pulls.get(pull).catch(missing('pull_request'));
  return { ...pullRequestOf(at, site, data), nodeId: data.node_id };
}

export const getPullRequest: Provider['getPullRequest'] = (at, number) =>
  askRepository(at, async (connection, place) => {
    const { nodeId: _, ...pull } = await readPull(at, connection, { ...place, pull_number: number });
    const mergeQueued = pull.state === 'open' && (await isInMergeQueue(at, connection, pull));
    return { ...pull, mergeQueued };
  });

export const updatePullRequest: Provider['updatePullRequest'] = (at, number, change) =>
  askRepository(at, async (connection, place) => {
    const { draft, baseRef, ...plain } = change;
    const pull = { ...place, pull_number: number };
    const { octokit } = connection;
    if (draft !== undefined) await setDraft(at, connection, pull, draft);
    if (baseRef !== undefined || Object.keys(plain).length > 0) {
      try {
        await octokit.rest.pulls.update({
          ...pull,
          ...plain,
          ...(baseRef === undefined ? {} : { base: baseRef }),
        });
      } catch (error) {
        if (statusOf(error) !== 422) throw error;
        throw refusalOf(error);
      }
    }
    const { nodeId: _, ...changed } = await readPull(at, connection, pull);
    return changed;
  });

/** Only GraphQL can: https://docs.github.com/en/graphql/reference/mutations#markpullrequestreadyforreview */
async function setDraft(
  at: AtRepository,
  connection: Connection,
  pull: Place & { pull_number: number },
  draft: boolean,
): Promise<void> {
  const { nodeId, draft: isDraft } = await readPull(at, connection, pull);
  if (isDraft !== draft) await connection.octokit.graphql(draft ? TO_DRAFT : READY, { id: nodeId });
}

const READY = `mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { id } }
}`;
const TO_DRAFT = `mutation($id: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { id } }
}`;
