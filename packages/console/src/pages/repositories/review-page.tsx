/** A pull request of a repository that this service hosts, for people and for CI. */
import type { Repository, ScmPullRequest } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { pullQuery, repositoryQuery, threadOfPullQuery } from '../../api/repositories-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { quoted } from '../../ui/quoted.ts';
import { Time } from '../../ui/values.tsx';
import { Comments } from './comments.tsx';
import { MergePart } from './merge.tsx';
import { AtHost, Copied, Mark, Sha, State } from './scm-parts.tsx';
import { PullActions } from './pull-actions.tsx';
import { Statuses } from './statuses.tsx';
import { isHosted } from './words.ts';

const route = getRouteApi('/signed-in/organization/repositories/$repositoryId/pull-requests/$number');
const Markdown = lazy(async () => ({ default: (await import('../thread/markdown.tsx')).Markdown }));

const MERGEABLE: Record<string, [status: string, word: string]> = {
  mergeable: ['ready', 'without conflicts'],
  conflicting: ['conflicted', 'in conflict with the base branch'],
  unknown: ['pending', 'not known yet'],
};

export function ReviewPage() {
  const { repositoryId, number } = route.useParams();
  const repository = useQuery(repositoryQuery(repositoryId));
  const isHere = repository.data ? isHosted(repository.data) : false;
  const pull = useQuery({ ...pullQuery(repositoryId, number), enabled: isHere });
  const { data } = pull;
  const title = data ? data.title : `Pull request ${number}`;
  return (
    <Page
      title={title}
      heading={
        <span className="flex flex-wrap items-center gap-x-3">
          <span className="long">
            <Plain text={title} /> {data && <span className="font-normal text-ink-3">#{number}</span>}
          </span>
          {data && (
            <span className="flex items-center gap-2 text-13 font-normal">
              <State state={data.state} />
              {data.draft && <Mark>draft</Mark>}
            </span>
          )}
        </span>
      }
      actions={data && <PullActions key={`${repositoryId} ${number}`} pull={data} />}
    >
      <Shown query={repository}>
        {(of) =>
          isHosted(of) ? (
            <Shown query={pull}>{(shown) => <Review repository={of} pull={shown} />}</Shown>
          ) : (
            <AtHost href={`${of.url}/pull/${encodeURIComponent(number)}`} provider={of.provider} />
          )
        }
      </Shown>
    </Page>
  );
}

function Review({ repository, pull }: { repository: Repository; pull: ScmPullRequest }) {
  return (
    <>
      <About repository={repository} pull={pull} />
      {pull.body && (
        <div className="border-t border-line px-4 py-3">
          <div className="max-w-[88ch]">
            <Suspense fallback={<Skeleton lines={2} />}>
              <Markdown text={pull.body} />
            </Suspense>
          </div>
        </div>
      )}
      <Changes pull={pull} />
      <div className="border-t border-line" />
      <Statuses
        key={pull.headSha}
        repositoryId={repository.id}
        commitSha={pull.headSha}
        required={repository.requiredChecks}
      />
      {pull.state === 'open' && <MergePart repository={repository} pull={pull} />}
      <Comments repositoryId={repository.id} number={String(pull.number)} />
    </>
  );
}

function About({ repository, pull }: { repository: Repository; pull: ScmPullRequest }) {
  const { headRef, baseRef, headSha, state, mergeable, mergeCommitSha, author, threadId } = pull;
  const [status, word] = MERGEABLE[mergeable] ?? ['pending', mergeable];
  return (
    <Facts>
      <Fact name="Repository">
        <Link
          to="/organization/repositories/$repositoryId"
          params={{ repositoryId: repository.id }}
          search={{ part: 'pull-requests' }}
          className="link"
        >
          <Plain text={repository.fullName} />
        </Link>
      </Fact>
      <Fact name="Branches">
        <span className="long font-mono text-mono">
          <Plain text={headRef} /> → <Plain text={baseRef} />
        </span>
      </Fact>
      <Fact name="Newest commit">
        <Sha sha={headSha} />
      </Fact>
      {state === 'open' && (
        <Fact name="Merging">
          <Status status={status} word={word} />
        </Fact>
      )}
      {mergeCommitSha !== null && (
        <Fact name="Merged as">
          <Sha sha={mergeCommitSha} />
        </Fact>
      )}
      <Fact name="By">
        <span>
          <Plain text={author} />
          <span className="text-ink-3"> · </span>
          <Time at={pull.createdAt} />
        </span>
      </Fact>
      {threadId !== null && <ThreadFact threadId={threadId} />}
    </Facts>
  );
}

/** No read tells the difference of two commits: git does. */
function Changes({ pull: { number, state, baseRef, headSha, mergeCommitSha } }: { pull: ScmPullRequest }) {
  const range =
    state === 'merged' && mergeCommitSha
      ? `${mergeCommitSha}^...${headSha}`
      : `${quoted(`origin/${baseRef}`)}...${headSha}`;
  return (
    <Section title="The changes">
      <div className="px-4 pb-4">
        <Copied
          label="Look at them in a clone"
          text={`git fetch origin ${quoted(baseRef)} refs/pull/${number}/head\ngit diff ${range}`}
        />
      </div>
    </Section>
  );
}

function ThreadFact({ threadId }: { threadId: string }) {
  const { data } = useQuery(threadOfPullQuery(threadId));
  if (!data) return null;
  const params = { appId: data.projectId, threadId };
  return (
    <Fact name="Thread">
      <span>
        <Link to="/apps/$appId/threads/$threadId" params={params} className="link">
          <Plain text={data.title ?? 'Untitled'} />
        </Link>
        {' · '}
        <Link
          to="/apps/$appId/threads/$threadId"
          params={params}
          search={{ panel: 'changes' }}
          className="link"
        >
          the changes
        </Link>
      </span>
    </Fact>
  );
}
