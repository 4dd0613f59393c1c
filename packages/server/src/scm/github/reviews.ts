/** Review threads at GitHub, which only GraphQL knows whole. */
import type { Provider, ReviewThread } from '../provider.ts';
import { ProviderError } from '../provider.ts';
import { askRepository } from './ask.ts';
import { isWithheld } from './checks.ts';
import { faultOf, senseless } from './faults.ts';
import { plainText } from './repositories.ts';

/** Pages of 100 threads. */
const MAX_PAGES = 20;
/** The limit of all comments together: commenters could otherwise fill the memory. Then no further page is read. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const WRITERS = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

const THREADS = `query($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id isResolved path line
          opened: comments(first: 1) { nodes { ...said } }
          comments(last: 50) { nodes { ...said } }
        }
      }
      latestOpinionatedReviews(first: 100) {
        nodes { author { login } state viewerDidAuthor }
      }
    }
  }
}
fragment said on PullRequestReviewComment {
  id author { login } viewerDidAuthor authorAssociation body createdAt
}`;
const REPLY = `mutation($id: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $id, body: $body}) { comment { id } }
}`;

interface Comment {
  id: string;
  author: { login: string } | null;
  viewerDidAuthor: boolean;
  authorAssociation: string;
  body: string;
  createdAt: string;
}

interface Answer {
  repository: {
    pullRequest: {
      reviewThreads: {
        pageInfo: { hasNextPage: boolean; endCursor: string | null };
        nodes: {
          id: string;
          isResolved: boolean;
          path: string | null;
          line: number | null;
          opened: { nodes: Comment[] };
          comments: { nodes: Comment[] };
        }[];
      };
      latestOpinionatedReviews: {
        nodes: { author: { login: string } | null; state: string; viewerDidAuthor: boolean }[];
      } | null;
    } | null;
  } | null;
}
type Pull = NonNullable<NonNullable<Answer['repository']>['pullRequest']>;

export const listReviewThreads: Provider['listReviewThreads'] = (at, number) =>
  askRepository(at, async ({ octokit }, place) => {
    const threads: ReviewThread[] = [];
    let after: string | null = null;
    let size = 0;
    try {
      for (let page = 1; ; page++) {
        const answer: Answer = await octokit.graphql(THREADS, { ...place, number, after });
        const pull: Pull | null | undefined = answer.repository?.pullRequest;
        if (!pull)
          throw new ProviderError(
            { code: 'not_found', what: 'pull_request' },
            'there is no such pull request',
          );
        const read = pull.reviewThreads.nodes.map(threadOf);
        threads.push(...read);
        for (const { comments } of read) for (const { body } of comments) size += body.length;
        const { hasNextPage, endCursor } = pull.reviewThreads.pageInfo;
        if (!hasNextPage || page === MAX_PAGES || size > MAX_CHARACTERS)
          return { threads, changesRequested: unheard(pull, threads) };
        if (endCursor === null || endCursor === after) throw senseless('a page without end');
        after = endCursor;
      }
    } catch (error) {
      if (isWithheld(error) || isForbidden(error)) return null;
      throw error;
    }
  });

/** A query is refused only in the part that the credential may not see. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'GraphqlResponseError' &&
  faultOf(error).fault.code === 'access_denied';

const threadOf = (thread: Pull['reviewThreads']['nodes'][number]): ReviewThread => ({
  id: thread.id,
  isResolved: thread.isResolved,
  path: thread.path === null ? null : plainText(thread.path),
  line: thread.line,
  comments: commentsOf(thread).map((comment) => ({
    id: comment.id,
    author: plainText(comment.author?.login ?? 'ghost'),
    isOwn: comment.viewerDidAuthor,
    canWrite: WRITERS.has(comment.authorAssociation),
    body: plainText(comment.body),
    createdAt: new Date(comment.createdAt).toISOString(),
  })),
});

/** The comment that opened the thread, and the last ones. */
function commentsOf({ opened, comments }: Pull['reviewThreads']['nodes'][number]): Comment[] {
  const [first] = opened.nodes;
  return first && comments.nodes[0]?.id !== first.id ? [first, ...comments.nodes] : comments.nodes;
}

/** Reviewers who ask for changes and have begun no thread that is open. */
function unheard(pull: Pull, threads: ReviewThread[]): number {
  const begun = new Set(threads.filter((one) => !one.isResolved).map((one) => one.comments[0]?.author));
  return (pull.latestOpinionatedReviews?.nodes ?? []).filter(
    ({ author, state, viewerDidAuthor }) =>
      state === 'CHANGES_REQUESTED' && !viewerDidAuthor && !begun.has(author?.login ?? 'ghost'),
  ).length;
}

export const replyToThread: Provider['replyToThread'] = (at, _number, threadId, body) =>
  askRepository(at, async ({ octokit }) => {
    await octokit.graphql(REPLY, { id: threadId, body });
  });
