/** Pull requests over all projects: where each stands, and what waits for a person. */
import type { PullRequestSummary, Thread } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { projectNamesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { reviewedThreadsQuery } from '../../api/reviews-queries.ts';
import type { PullRequestState } from '../../api/reviews-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Toggle } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { plural, Time } from '../../ui/values.tsx';
import { ChecksLine } from './marks.tsx';
import { standingOf } from './standing.ts';

const route = getRouteApi('/signed-in/pull-requests');

const STATES: { id: PullRequestState; text: string }[] = [
  { id: 'open', text: 'Open' },
  { id: 'closed', text: 'Closed' },
  { id: 'merged', text: 'Merged' },
];
const ALL = 'all';

export function PullRequestsPage() {
  const { state = 'open', projectId } = route.useSearch();
  const navigate = route.useNavigate();
  const threads = useInfiniteQuery(
    reviewedThreadsQuery({ pullRequestState: state, ...(projectId && { projectId }) }),
  );
  const projects = useInfiniteQuery(projectNamesQuery());
  const names = new Map(itemsOf(projects.data).map(({ id, name }) => [id, name]));
  const withRepository = itemsOf(projects.data).filter(({ repositoryId }) => repositoryId !== null);
  const isWhole = projects.data !== undefined && !projects.hasNextPage;
  const hasRepositories = withRepository.length > 0 || (isWhole ? false : null);
  const go = (next: { state?: PullRequestState; projectId?: string }) =>
    void navigate({ search: next, replace: true });
  const inProject = projectId ? { projectId } : {};
  const inState = state === 'open' ? {} : { state };
  return (
    <Page title="Pull requests">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 pb-3">
        <div role="group" aria-label="State" className="mr-auto flex flex-wrap gap-2">
          {STATES.map(({ id, text }) => (
            <Toggle
              key={id}
              isSelected={state === id}
              onChange={() => go({ ...inProject, ...(id !== 'open' && { state: id }) })}
            >
              {text}
            </Toggle>
          ))}
        </div>
        {(withRepository.length > 1 || projectId !== undefined) && (
          <Select
            label="Project"
            quiet
            choices={[
              { id: ALL, text: 'All projects' },
              ...withRepository.map(({ id, name, repoFullName }) => ({
                id,
                text: name,
                ...(repoFullName !== null && { note: repoFullName }),
              })),
            ]}
            value={projectId ?? ALL}
            onChange={(id) => go({ ...inState, ...(id !== ALL && { projectId: id }) })}
          />
        )}
      </div>
      <Shown query={threads}>
        {(data) => {
          const items = itemsOf(data).flatMap((thread) => rowsOf(thread, state));
          return items.length === 0 ? (
            <NoPulls state={state} hasRepositories={hasRepositories} />
          ) : (
            <ul aria-label="Pull requests">
              {items.map(({ thread, pull }) => (
                <li key={pull.id}>
                  <Row thread={thread} pull={pull} project={names.get(thread.projectId) ?? null} />
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
      <ShowMore list={threads} />
    </Page>
  );
}

interface RowOf {
  thread: Thread;
  pull: PullRequestSummary;
}

/** The service finds a thread by its open pull request, else by its newest. All of its others in that state are shown, too. */
const rowsOf = (thread: Thread, state: PullRequestState): RowOf[] =>
  thread.pullRequests.filter((pull) => pull.state === state).map((pull) => ({ thread, pull }));

/** `hasRepositories`: null where it is not known. */
function NoPulls({ state, hasRepositories }: { state: PullRequestState; hasRepositories: boolean | null }) {
  if (state !== 'open')
    return (
      <Empty title={`No pull request is ${state}`}>
        <p>A thread counts by its open pull request, else by its newest.</p>
        <Link to="/pull-requests" className="link">
          Show the open ones
        </Link>
      </Empty>
    );
  return (
    <Empty title="No open pull requests">
      <p>
        A pull request brings the changes of a thread back to a branch of its repository.{' '}
        {hasRepositories === false
          ? 'Bind a project to a repository first.'
          : 'Open a thread of a project with a repository, then its part “Pull request”.'}
      </p>
      <Link to="/projects" className="link">
        Show the projects
      </Link>
    </Empty>
  );
}

function Row({ thread, pull, project }: RowOf & { project: string | null }) {
  const standing = standingOf(pull);
  const { scmSummary: summary } = pull;
  return (
    <Link
      to="/apps/$appId/threads/$threadId"
      params={{ appId: thread.projectId, threadId: thread.id }}
      search={{ panel: 'pull-request', pull: pull.id }}
      data-row
      className="row flex-wrap gap-x-4 gap-y-0"
    >
      <span className="w-34 shrink-0">
        <Status status={standing.status} word={standing.word} />
      </span>
      <span className="min-w-0 flex-[1_1_240px] max-sm:basis-full">
        <span className="long block">
          <Plain text={pull.title} />
        </span>
        <span className="long block text-12 text-ink-3">
          {project !== null && (
            <>
              <Plain text={project} /> ·{' '}
            </>
          )}
          {pull.repoFullName} #{pull.number} into {pull.baseRef}
          {pull.draft && ' · draft'}
        </span>
        {standing.isForPerson && (
          <span className="long block text-12 text-wait">
            {standing.what} {standing.todo}
          </span>
        )}
      </span>
      <span className="text-12 text-ink-2 empty:hidden">
        {summary && pull.state === 'open' && (
          <ChecksLine checks={summary.checks} isKnown={summary.checksAvailable} />
        )}
      </span>
      <span className="text-12 text-ink-2 empty:hidden">
        {summary !== null && summary.unresolvedCount > 0 && plural(summary.unresolvedCount, 'open review')}
      </span>
      <span className="ml-auto w-24 shrink-0 text-right text-12 text-ink-3">
        <Time at={pull.updatedAt} />
      </span>
    </Link>
  );
}
