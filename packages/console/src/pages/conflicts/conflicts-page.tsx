/** Applies a thread's draft: first what would happen, conflicts by hand or by the agent, then the way through the queue. */
import type { Apply, Thread } from '@headrace/client';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { appliesQuery, applyPreviewQuery, applyQuery, threadQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useSession } from '../../api/session.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Shown, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { Plain } from '../../code/index.ts';
import { adviceOf, messageOf } from '../applies/advice.ts';
import { Clean } from './clean.tsx';
import { keptName, writeKept } from './kept.ts';
import { Progress } from './progress.tsx';
import { Resolver } from './resolver.tsx';
import { useDecisions } from './use-decisions.ts';
import type { Decisions } from './use-decisions.ts';
import { useSend } from './use-send.ts';

const route = getRouteApi('/signed-in/apps/$appId/threads/$threadId/apply');

export function ConflictsPage() {
  const { appId, threadId } = route.useParams();
  const thread = useQuery(threadQuery(appId, threadId));
  const title = thread.data?.title ?? 'Untitled thread';
  return (
    <Page
      title={thread.data ? `Apply ${title}` : 'Apply'}
      heading={
        <>
          Apply{' '}
          {thread.data && (
            <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} className="link">
              <Plain text={title} />
            </Link>
          )}
        </>
      }
    >
      <Shown query={thread}>{(read) => <OfThread key={threadId} thread={read} />}</Shown>
    </Page>
  );
}

const PREFIX = 'apply:';

function OfThread({ thread }: { thread: Thread }) {
  const { projectId: appId, id: threadId, latestSourceId, sealedAt, archivedAt, blockedOn } = thread;
  const queries = useQueryClient();
  const applies = useInfiniteQuery(appliesQuery(appId, { threadId }));
  const [sentId, setSentId] = useState<string | null>(null);
  const ended = itemsOf(applies.data);
  const openId = blockedOn.find((one) => one.startsWith(PREFIX))?.slice(PREFIX.length);
  const sealing = sealedAt ? ended.find(({ status }) => status === 'applied')?.id : undefined;
  const applyId = sentId ?? openId ?? sealing ?? null;
  const apply = useQuery({ ...applyQuery(appId, applyId ?? ''), enabled: applyId !== null });
  const status = applyId === null ? null : apply.data?.status;
  const isOver = status === 'conflicted' || status === 'failed';
  const { user } = useSession();
  const isApplied = status === 'applied';
  useEffect(() => {
    if (isApplied) void writeKept(keptName(user.id, threadId), new Map());
  }, [isApplied, user.id, threadId]);
  // The thread is open again; what it said about this apply is old.
  useEffect(() => {
    if (!isOver) return;
    setSentId(null);
    void queries.invalidateQueries({ queryKey: threadQuery(appId, threadId).queryKey, exact: true });
    void queries.invalidateQueries({ queryKey: appliesQuery(appId, { threadId }).queryKey });
    void queries.invalidateQueries({ queryKey: ['app', appId, 'preview of', threadId] });
  }, [isOver, queries, appId, threadId]);

  if (applyId !== null && !isOver) return <Shown query={apply}>{(read) => <Progress apply={read} />}</Shown>;
  if (sealedAt)
    return applies.data ? (
      <Empty title="The draft is already applied">
        <p>Work goes on in a new thread, from the new head.</p>
      </Empty>
    ) : (
      <Shown query={applies}>{() => null}</Shown>
    );
  if (archivedAt)
    return (
      <Empty title="The thread is archived">
        <p>Its draft can be applied once it is unarchived.</p>
        <ButtonLink to="/apps/$appId/threads/$threadId" params={{ appId, threadId }}>
          Go to the thread
        </ButtonLink>
      </Empty>
    );
  if (latestSourceId === null)
    return (
      <Empty title="The thread has no files yet">
        <p>There is something to apply once a run has changed files, or somebody has edited them.</p>
      </Empty>
    );
  const last = (isOver ? apply.data : null) ?? ended[0];
  return (
    <>
      {last && (last.status === 'conflicted' || last.status === 'failed') && <LastApply apply={last} />}
      <OfDraft
        draft={{ appId, threadId, sourceId: latestSourceId }}
        threadStatus={thread.status}
        onSent={setSentId}
      />
    </>
  );
}

function LastApply({ apply }: { apply: Apply }) {
  const { id, projectId: appId, status, error, finishedAt } = apply;
  return (
    <p className="long border-t border-line px-4 py-2 text-ink-2">
      The{' '}
      <Link to="/apps/$appId/applies/$applyId" params={{ appId, applyId: id }} className="link">
        last apply
      </Link>{' '}
      {status === 'conflicted' ? 'ended with conflicts' : 'failed'} <Time at={finishedAt} />.{' '}
      {adviceOf(apply) ?? (error && <Plain text={messageOf(error)} />)}
    </p>
  );
}

function OfDraft({
  draft: latest,
  threadStatus,
  onSent,
}: {
  draft: { appId: string; threadId: string; sourceId: string };
  threadStatus: string;
  onSent: (applyId: string) => void;
}) {
  const [isHeld, setHeld] = useState(false);
  // A send edits the draft and previews it itself: that is shown until it has ended.
  const [sendsFrom, setSendsFrom] = useState<string | null>(null);
  const draft = { ...latest, sourceId: sendsFrom ?? latest.sourceId };
  const { appId, threadId, sourceId } = draft;
  const query = applyPreviewQuery(appId, threadId, sourceId);
  const preview = useQuery({ ...query, enabled: !isHeld && sendsFrom === null });
  const decisions = useDecisions(threadId, preview.data?.conflicts);
  const sent = (applyId: string) => {
    setHeld(true);
    onSent(applyId);
  };
  const sending = useSend(draft, { sent, edited: decisions.forgetPast, from: setSendsFrom });
  // Whether it can be previewed depends on what the thread does.
  const { error, refetch } = preview;
  useEffect(() => {
    if (error) void refetch();
    // Only another status of the thread is a reason.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [threadStatus]);
  const { entries } = decisions;
  const held = sending.isSending ? HELD : null;
  if (!preview.data && preview.error)
    return <Failure error={preview.error} retry={() => void preview.refetch()} />;
  if (!preview.data || !entries) return <Skeleton lines={8} />;
  const props = { draft, preview: preview.data, decisions: { ...decisions, entries, ...held }, sending };
  return preview.data.status === 'clean' ? (
    <Clean {...props} onSent={sent} />
  ) : (
    <Resolver {...props} onAgent={sent} />
  );
}

/** What is being sent does not change on the way. */
const HELD: Pick<Decisions, 'change' | 'amend' | 'undo'> = { change() {}, amend() {}, undo: null };
