/** A thread: what was said and done, and beside it what came of it. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Thread } from '@headrace/client';
import { appQuery, threadQuery } from '../../api/queries.ts';
import { laneOf } from '../../live/index.ts';
import { Page, useTitle } from '../../ui/page.tsx';
import { Failure, Skeleton } from '../../ui/states.tsx';
import { Approvals } from './approvals.tsx';
import { Composer } from './composer.tsx';
import { ThreadContext } from './context.ts';
import { Panel, PanelTabs } from './panels/panel.tsx';
import { isReadOutOn, ReadOut, setReadOut } from './read-out.tsx';
import { ThreadHeader } from './thread-header.tsx';
import { useConversation } from './use-conversation.ts';
import { useIsWide } from './use-is-wide.ts';

// Parts of their own, which are on their way while the messages are.
const loadConversation = () => import('./conversation.tsx');
const Conversation = lazy(async () => ({ default: (await loadConversation()).Conversation }));
Promise.all([loadConversation(), import('./markdown.tsx')]).catch(() => {});

const route = getRouteApi('/signed-in/apps/$appId/threads/$threadId');

export function ThreadPage() {
  const { appId, threadId } = route.useParams();
  const thread = useQuery(threadQuery(appId, threadId));
  if (thread.data) return <ThreadView key={threadId} appId={appId} thread={thread.data} />;
  return (
    <Page title="Thread">
      {thread.error ? (
        <Failure error={thread.error} retry={() => void thread.refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function ThreadView({ appId, thread }: { appId: string; thread: Thread }) {
  const { id: threadId } = thread;
  useTitle(thread.title ?? 'Untitled thread');
  const { panel } = route.useSearch();
  const isWide = useIsWide();
  const read = useConversation(appId, threadId);
  const { data: app } = useQuery(appQuery(appId));
  const lane = app ? laneOf(app.kind) : null;
  const place = useMemo(() => ({ appId, threadId, thread, lane }), [appId, threadId, thread, lane]);
  const [isReadOut, setOn] = useState(isReadOutOn);
  const changeReadOut = (on: boolean) => {
    setReadOut(on);
    setOn(on);
  };
  // Small: a panel lies over the conversation, which keeps its place below it.
  const isCovered = !isWide && panel !== undefined;
  const shown = panel ?? (isWide ? 'changes' : undefined);
  return (
    <ThreadContext value={place}>
      <div className="relative min-h-[480px] flex-1">
        <div className="absolute inset-0 flex flex-col">
          <ThreadHeader
            runs={read.runs}
            isWhole={read.isWhole}
            isReadOut={isReadOut}
            onReadOut={changeReadOut}
          />
          <Approvals />
          {!isWide && <PanelTabs shown={shown} withConversation />}
          <div className="relative flex min-h-0 flex-1">
            <div className="flex min-w-0 flex-1 flex-col" inert={isCovered}>
              <Suspense
                fallback={
                  <div className="flex-1">
                    <Skeleton lines={8} height={56} />
                  </div>
                }
              >
                <Conversation read={read} />
              </Suspense>
              <Composer runs={read.runs} />
            </div>
            {shown !== undefined && (
              <aside
                aria-label="Beside the conversation"
                className={
                  isWide
                    ? 'flex w-[420px] shrink-0 flex-col border-l border-line'
                    : 'absolute inset-0 z-10 flex flex-col bg-paper'
                }
              >
                {isWide && <PanelTabs shown={shown} withConversation={false} />}
                <Panel shown={shown} />
              </aside>
            )}
          </div>
          <ReadOut isOn={isReadOut} />
        </div>
      </div>
    </ThreadContext>
  );
}
