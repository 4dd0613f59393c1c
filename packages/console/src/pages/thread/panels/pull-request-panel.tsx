/** The pull requests of a thread: the open one, else the newest; or how to open the first one. */
import type { PullRequest, PullRequestSummary } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { itemsOf } from '../../../api/query.ts';
import { pullRequestQuery, pullRequestsQuery } from '../../../api/reviews-queries.ts';
import { Plain } from '../../../code/plain.tsx';
import { Button } from '../../../ui/button.tsx';
import { Section } from '../../../ui/page.tsx';
import { Shown } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { CreateForm } from '../../pull-requests/create-form.tsx';
import { PullView } from '../../pull-requests/pull-view.tsx';
import { useThread } from '../context.ts';

const route = getRouteApi('/signed-in/apps/$appId/threads/$threadId');

export function PullRequestPanel() {
  const { appId, threadId, thread } = useThread();
  const { pull: wanted } = route.useSearch();
  const { pullRequests: known, primaryPullRequest } = thread;
  // The thread itself tells of one; the list, of several, and that there is none.
  const list = useInfiniteQuery({ ...pullRequestsQuery(appId, threadId), enabled: known.length !== 1 });
  const pulls = list.data ? itemsOf(list.data) : known;
  const primary = pulls.find(({ state }) => state === 'open') ?? pulls[0] ?? primaryPullRequest;
  const shownId = wanted ?? primary?.id;
  if (shownId !== undefined) return <Several key={shownId} shownId={shownId} pulls={pulls} />;
  return <Shown query={list}>{() => <CreateForm onDone={() => {}} />}</Shown>;
}

function Several({ shownId, pulls }: { shownId: string; pulls: PullRequestSummary[] }) {
  const { appId, threadId, thread } = useThread();
  const navigate = route.useNavigate();
  const pull = useQuery(pullRequestQuery(appId, threadId, shownId));
  const [isMaking, setMaking] = useState(false);
  const others = pulls.filter(({ id }) => id !== shownId);
  const hasOpen = pull.data?.state !== 'closed' || others.some(({ state }) => state === 'open');
  const showNew = (made: PullRequest) => {
    setMaking(false);
    void navigate({ search: { panel: 'pull-request', pull: made.id }, replace: true });
  };
  if (isMaking)
    return (
      <>
        <CreateForm onDone={showNew} />
        <div className="px-4 pb-4">
          <Button onPress={() => setMaking(false)}>Back</Button>
        </div>
      </>
    );
  return (
    <>
      <Shown query={pull}>{(shown) => <PullView appId={appId} pull={shown} />}</Shown>
      {others.length > 0 && (
        <Section title="Others of this thread">
          {others.map((one) => (
            <Link
              key={one.id}
              to="/apps/$appId/threads/$threadId"
              params={{ appId, threadId }}
              search={{ panel: 'pull-request', pull: one.id }}
              className="row"
            >
              <span className="w-20 shrink-0">
                <Status status={one.state} />
              </span>
              <span className="long flex-1">
                <Plain text={one.title} />
              </span>
              <span className="text-ink-3">#{one.number}</span>
            </Link>
          ))}
        </Section>
      )}
      {!hasOpen && thread.archivedAt === null && thread.sealedAt === null && (
        <div className="border-t border-line px-4 py-3">
          <Button onPress={() => setMaking(true)}>Open another pull request</Button>
        </div>
      )}
    </>
  );
}
