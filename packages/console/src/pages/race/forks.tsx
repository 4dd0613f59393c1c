/** Threads and their forks as trees. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { threadsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { forkTrees } from './fork-tree.ts';
import type { ForkNode } from './fork-tree.ts';
import type { Race, RaceFilter } from './use-race.ts';

/** Whole families: a filter leaves out those of which it shows no thread. */
export function Forks({
  appId,
  race: { strands, threads },
  filter: { status, query },
}: {
  appId: string;
  race: Race;
  filter: RaceFilter;
}) {
  const all = useInfiniteQuery(threadsQuery(appId));
  const lists = [all, threads];
  const hasMore = lists.some(({ hasNextPage }) => hasNextPage);
  const isReadingOn = lists.some(({ isFetchingNextPage }) => isFetchingNextPage);
  // Of those that joined long ago only their list tells.
  const found = itemsOf(threads.data).filter(({ archivedAt }) => status === undefined && archivedAt === null);
  const shown = new Set([...strands.map(({ threadId }) => threadId), ...found.map(({ id }) => id)]);
  return (
    <Shown query={all}>
      {(data) => {
        const trees = forkTrees(itemsOf(data)).filter((tree) => isAnyOf(shown, tree));
        return (
          <>
            {trees.length === 0 ? (
              <Nothing isFiltered={status !== undefined || Boolean(query)} hasMore={hasMore} />
            ) : (
              <ul aria-label="Threads and their forks" className="border-t border-line">
                {trees.map((node) => (
                  <Branch key={node.thread.id} appId={appId} node={node} depth={0} />
                ))}
              </ul>
            )}
            {hasMore && (
              <p className="px-4 py-2">
                <Button
                  isPending={isReadingOn}
                  onPress={() => {
                    for (const list of lists)
                      if (list.hasNextPage && !list.isFetching)
                        // Without a filter they are one list.
                        void list.fetchNextPage({ cancelRefetch: false });
                  }}
                >
                  Read older ones
                </Button>
              </p>
            )}
          </>
        );
      }}
    </Shown>
  );
}

const isAnyOf = (shown: ReadonlySet<string>, { thread, forks }: ForkNode): boolean =>
  shown.has(thread.id) || forks.some((fork) => isAnyOf(shown, fork));

function Nothing({ isFiltered, hasMore }: { isFiltered: boolean; hasMore: boolean }) {
  if (isFiltered)
    return <Empty title="No fork is like that">Another status or other words may find it.</Empty>;
  return (
    <Empty title="No forks">
      <p>
        {hasMore
          ? 'None of the threads that were read is a fork.'
          : 'A fork goes on from where a thread is, or was, and leaves that thread as it is. Make one in the menu of a thread.'}
      </p>
    </Empty>
  );
}

/** Deeper ones stand no further to the right: a title needs room. */
const MOST_DEPTH = 8;

function Branch({ appId, node, depth }: { appId: string; node: ForkNode; depth: number }) {
  const { thread, forks, isParentUnread } = node;
  return (
    <li>
      <Link
        to="/apps/$appId/threads/$threadId"
        params={{ appId, threadId: thread.id }}
        data-row
        className="row flex-wrap gap-y-0 sm:flex-nowrap"
        style={{ paddingLeft: 16 + Math.min(depth, MOST_DEPTH) * 20 }}
      >
        <span className="flex min-w-0 flex-1 items-center gap-2">
          {depth > 0 && (
            <span aria-hidden className="-mt-2 h-3 w-2.5 shrink-0 border-b border-l border-strong" />
          )}
          <span className="truncate">
            <Plain text={thread.title ?? 'Untitled thread'} />
          </span>
        </span>
        {isParentUnread && <span className="text-12 text-ink-3">fork of a thread that is not here</span>}
        <span className="w-24 shrink-0">
          <Status status={thread.status} />
        </span>
        <span className="w-24 shrink-0 text-right text-ink-3">
          <Time at={thread.createdAt} />
        </span>
      </Link>
      {forks.length > 0 && (
        <ul aria-label={`Forks of ${thread.title ?? 'the untitled thread'}`}>
          {forks.map((fork) => (
            <Branch key={fork.thread.id} appId={appId} node={fork} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  );
}
