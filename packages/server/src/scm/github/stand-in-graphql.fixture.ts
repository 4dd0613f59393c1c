/** The stand-in's GraphQL: the documents that Headrace sends, by their first field. */
import type { Actor, Answer } from './stand-in-rest.fixture.ts';
import type { StandInPull, StandInRepository, StandInThread } from './stand-in-repository.fixture.ts';

/** In the shape that the document requests. */
const LAST_COMMENTS = 50;

type Variables = Record<string, unknown>;
type Found = { repository: StandInRepository; pull: StandInPull };

const data = (value: unknown): Answer => ({ status: 200, body: { data: value } });
const fault = (type: string, message: string): Answer => ({
  status: 200,
  body: { data: null, errors: [{ type, message, path: [], locations: [] }] },
});

const pullById = (all: StandInRepository[], id: unknown): Found | undefined =>
  all
    .flatMap((repository) => repository.pulls.map((pull) => ({ repository, pull })))
    .find(({ pull }) => pull.nodeId === id);

export function answerGraphql(
  { query, variables }: { query: string; variables: Variables },
  { actor, repositories }: { actor: Actor; repositories: StandInRepository[] },
): Answer {
  if (actor.kind === 'installation' && !actor.permissions['pull_requests'])
    return fault('FORBIDDEN', 'Resource not accessible by integration');
  const field = /\{\s*(\w+)/.exec(query)?.[1] ?? '';
  if (field === 'repository') return readRepository(query, variables, { actor, repositories });
  if (field === 'addPullRequestReviewThreadReply') return reply(variables, actor, repositories);
  const found = pullById(repositories, variables['id']);
  if (!found)
    return fault(
      'NOT_FOUND',
      `Could not resolve to a node with the global id of '${String(variables['id'])}'`,
    );
  const { pull } = found;
  if (field === 'enqueuePullRequest') {
    if (variables['head'] !== undefined && variables['head'] !== pull.headSha)
      return fault('UNPROCESSABLE', 'Head sha has changed');
    if (pull.queued) return fault('UNPROCESSABLE', 'Pull request is already in the merge queue');
    pull.queued = true;
    return data({ enqueuePullRequest: { mergeQueueEntry: { id: `MQE_${pull.number}` } } });
  }
  if (field !== 'markPullRequestReadyForReview' && field !== 'convertPullRequestToDraft')
    return fault('undefinedField', `Field '${field}' doesn't exist`);
  pull.draft = field === 'convertPullRequestToDraft';
  return data({ [field]: { pullRequest: { id: pull.nodeId } } });
}

function readRepository(
  query: string,
  variables: Variables,
  { actor, repositories }: { actor: Actor; repositories: StandInRepository[] },
): Answer {
  const { owner, repo, number, branch } = variables;
  const repository = repositories.find((one) => one.fullName === `${String(owner)}/${String(repo)}`);
  if (!repository)
    return fault(
      'NOT_FOUND',
      `Could not resolve to a Repository with the name '${String(owner)}/${String(repo)}'.`,
    );
  const pull = repository.pulls.find((one) => one.number === number);
  if (query.includes('mergeQueue(')) {
    const mergeQueue = repository.queues.has(String(branch)) ? { id: 'MQ_1' } : null;
    const entry = pull?.queued ? { id: `MQE_${pull.number}` } : null;
    return data({
      repository: { mergeQueue, pullRequest: pull && { id: pull.nodeId, mergeQueueEntry: entry } },
    });
  }
  if (!pull)
    return fault('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${String(number)}.`);
  const begin = variables['after'] === null ? 0 : Number(variables['after']);
  const said = ({ author, association, ...comment }: StandInThread['comments'][number]) => ({
    ...comment,
    author: { login: author },
    viewerDidAuthor: author === actor.login,
    authorAssociation: association,
  });
  const nodes = pull.threads.slice(begin, begin + 100).map(({ comments, ...thread }) => ({
    ...thread,
    opened: { nodes: comments.slice(0, 1).map(said) },
    comments: { nodes: comments.slice(-LAST_COMMENTS).map(said) },
  }));
  const end = begin + nodes.length;
  const reviews = pull.reviews.filter(
    (one) => pull.reviews.findLast(({ author }) => author === one.author) === one,
  );
  return data({
    repository: {
      pullRequest: {
        reviewThreads: {
          pageInfo: { hasNextPage: end < pull.threads.length, endCursor: String(end) },
          nodes,
        },
        latestOpinionatedReviews: {
          nodes: reviews.map(({ author, state }) => ({
            author: { login: author },
            state,
            viewerDidAuthor: author === actor.login,
          })),
        },
      },
    },
  });
}

function reply({ id, body }: Variables, actor: Actor, repositories: StandInRepository[]): Answer {
  const thread = repositories
    .flatMap(({ pulls }) => pulls.flatMap(({ threads }) => threads))
    .find((one) => one.id === id);
  if (!thread) return fault('NOT_FOUND', `Could not resolve to a node with the global id of '${String(id)}'`);
  const comment = {
    id: `${thread.id}-${thread.comments.length + 1}`,
    author: actor.login,
    association: 'NONE',
    body: String(body),
    createdAt: new Date().toISOString(),
  };
  thread.comments.push(comment);
  return data({ addPullRequestReviewThreadReply: { comment: { id: comment.id } } });
}
