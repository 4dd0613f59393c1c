/** The inbox: what waits for the user, then what runs. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { itemsOf } from '../../api/query.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Failure, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, plural } from '../../ui/values.tsx';
import { useDismissed } from './dismissed.ts';
import { INBOX } from './reads.ts';
import { WaitingRow } from './waiting-row.tsx';
import { detailedOf, runningOf, waitingOf } from './waiting.ts';

export function InboxPage() {
  const asking = useInfiniteQuery(INBOX.asking);
  const threads = useInfiniteQuery(INBOX.threads);
  // Of apps only.
  const { platformApi, sourceControl } = useSession().entitlements;
  const applies = useInfiniteQuery({ ...INBOX.applies, enabled: platformApi });
  const latest = useInfiniteQuery(INBOX.latest);
  const builds = useInfiniteQuery({ ...INBOX.builds, enabled: platformApi });
  const projects = useInfiniteQuery(INBOX.names);
  const pulls = useInfiniteQuery({ ...INBOX.pulls, enabled: sourceControl });
  const { dismissed, dismiss } = useDismissed();
  const known = useMemo(
    () => [
      ...new Map(
        [latest.data, asking.data, threads.data].flatMap(itemsOf).map((thread) => [thread.id, thread]),
      ).values(),
    ],
    [latest.data, asking.data, threads.data],
  );
  const waiting = useMemo(
    () =>
      waitingOf({
        threads: known,
        applies: itemsOf(applies.data),
        builds: itemsOf(builds.data),
        reviewed: itemsOf(pulls.data),
        dismissed,
      }),
    [known, applies.data, builds.data, pulls.data, dismissed],
  );
  const detailed = useMemo(() => detailedOf(waiting), [waiting]);
  const running = useMemo(() => runningOf(itemsOf(threads.data)), [threads.data]);
  const nameOf = useMemo(() => {
    const names = new Map(itemsOf(projects.data).map(({ id, name }) => [id, name]));
    return (appId: string) => names.get(appId) ?? 'a project';
  }, [projects.data]);
  const lists = [
    asking,
    threads,
    latest,
    projects,
    ...(platformApi ? [applies, builds] : []),
    ...(sourceControl ? [pulls] : []),
  ];
  const isLoading = lists.some(({ data, error }) => !data && !error);
  const failed = lists.find(({ data, error }) => !data && error);
  const further = [asking, threads, applies, builds, pulls].filter(({ hasNextPage }) => hasNextPage);
  return (
    <Page title="Inbox">
      <Section
        title={
          waiting.length
            ? `${plural(waiting.length, 'thing waits', 'things wait')} for you`
            : 'Waiting for you'
        }
      >
        {failed && <Failure error={failed.error} retry={() => void failed.refetch()} />}
        {isLoading ? (
          <Skeleton lines={3} />
        ) : (
          waiting.map((item) => (
            <WaitingRow
              key={item.id}
              item={item}
              appName={nameOf(appOf(item))}
              isDetailed={detailed.has(item.id)}
              onDismiss={() => dismiss(item.id)}
            />
          ))
        )}
        {!isLoading && !failed && waiting.length === 0 && (
          <NothingWaits isNew={itemsOf(projects.data).length === 0} isAll={further.length === 0} />
        )}
        {further.length > 0 && (
          <div className="px-4 py-2">
            <Button
              isPending={further.some(({ isFetchingNextPage }) => isFetchingNextPage)}
              onPress={() => {
                for (const list of further) void list.fetchNextPage();
              }}
            >
              Show more
            </Button>
          </div>
        )}
      </Section>
      {/* Below what comes, so that it does not move. */}
      {!isLoading && running.length > 0 && (
        <Section title="Running now">
          {running.map((thread) => (
            <Link
              key={thread.id}
              data-row
              to="/apps/$appId/threads/$threadId"
              params={{ appId: thread.projectId, threadId: thread.id }}
              className="row"
            >
              <span className="w-24 shrink-0">
                <Status status={thread.status} />
              </span>
              <span className="long flex-1">{thread.title ?? 'Untitled thread'}</span>
              <span className="hidden max-w-48 truncate text-ink-3 sm:inline">
                {nameOf(thread.projectId)}
              </span>
              <span className="text-ink-3">
                <Time at={thread.runStartedAt ?? thread.updatedAt} />
              </span>
            </Link>
          ))}
        </Section>
      )}
    </Page>
  );
}

const appOf = (item: ReturnType<typeof waitingOf>[number]): string =>
  item.kind === 'conflict'
    ? item.apply.projectId
    : item.kind === 'build'
      ? item.build.projectId
      : item.thread.projectId;

function NothingWaits({ isNew, isAll }: { isNew: boolean; isAll: boolean }) {
  if (!isNew)
    return (
      <Empty title={isAll ? 'Nothing waits.' : 'Nothing waits among the newest.'}>
        <p>Approvals, conflicts, failed runs and builds, and pull requests that need you appear here.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing waits.">
      <p>Three first steps:</p>
      <ol className="list-decimal pl-5">
        <li>
          <Link to="/apps" className="link">
            Create an app
          </Link>{' '}
          and drop its folder on the page.
        </li>
        <li>Open a thread and say what an agent should change.</li>
        <li>Look at the change, then apply it to the app’s head.</li>
      </ol>
    </Empty>
  );
}
