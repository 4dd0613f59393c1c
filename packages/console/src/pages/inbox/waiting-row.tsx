/** One line of the inbox, with what can be done about it at once. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import type { Thread } from '@headrace/client';
import { Plain } from '../../code/plain.tsx';
import { approvalsQuery, runQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { ButtonLink, IconButton } from '../../ui/button.tsx';
import { Failure, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, plural } from '../../ui/values.tsx';
import { RemedyLink } from '../pull-requests/remedy.tsx';
import type { Waiting } from './waiting.ts';

// What is asked may need the colours and marks of code, which an empty inbox does not.
const Question = lazy(async () => ({ default: (await import('./question.tsx')).Question }));

interface RowProps {
  item: Waiting;
  appName: string;
  /** It may read more than the lists have. */
  isDetailed: boolean;
  onDismiss: () => void;
}
type ThreadRow = Pick<RowProps, 'appName' | 'isDetailed'> & { thread: Thread; at: string };

export function WaitingRow({ item, appName, isDetailed, onDismiss }: RowProps) {
  switch (item.kind) {
    case 'approval':
      return <ApprovalRow thread={item.thread} appName={appName} at={item.at} isDetailed={isDetailed} />;
    case 'conflict': {
      const { projectId: appId, threadId, conflicts } = item.apply;
      return (
        <Line
          status="conflicted"
          title={`${plural(conflicts.length, 'conflict')} in ${appName}`}
          note={titleOf(item.thread)}
          at={item.at}
          onDismiss={onDismiss}
        >
          <ButtonLink
            data-row
            to="/apps/$appId/threads/$threadId/apply"
            params={{ appId, threadId }}
            kind="primary"
          >
            Resolve
          </ButtonLink>
        </Line>
      );
    }
    case 'run':
      return (
        <FailedRunRow
          thread={item.thread}
          appName={appName}
          at={item.at}
          isDetailed={isDetailed}
          onDismiss={onDismiss}
        />
      );
    case 'build': {
      const { id: buildId, projectId: appId, error } = item.build;
      return (
        <Line
          status="failed"
          title={`Build failed in ${appName}`}
          note={error?.message ?? titleOf(item.thread)}
          at={item.at}
          onDismiss={onDismiss}
        >
          <ButtonLink data-row to="/apps/$appId/builds/$buildId" params={{ appId, buildId }}>
            Open the log
          </ButtonLink>
        </Line>
      );
    }
    case 'pull': {
      const { pull, standing, thread } = item;
      return (
        <Line
          status={standing.status}
          word={standing.word}
          title={`Pull request ${pull.number}: ${pull.title}`}
          note={`${standing.what} ${standing.todo ?? ''} · ${pull.repoFullName}`}
          at={item.at}
          onDismiss={onDismiss}
        >
          <RemedyLink data-row standing={standing} pull={pull} appId={thread.projectId} />
        </Line>
      );
    }
  }
}

const titleOf = (thread: Thread | null) => thread?.title ?? 'Untitled thread';

const OpenThread = ({ thread: { id: threadId, projectId: appId } }: { thread: Thread }) => (
  <ButtonLink data-row to="/apps/$appId/threads/$threadId" params={{ appId, threadId }}>
    Open
  </ButtonLink>
);

function ApprovalRow({ thread, appName, at, isDetailed }: ThreadRow) {
  const { id: threadId, projectId: appId } = thread;
  const query = useInfiniteQuery({ ...approvalsQuery(appId, threadId), enabled: isDetailed });
  const open = itemsOf(query.data).filter(({ status }) => status === 'pending');
  const line = { status: 'waiting', word: 'approve?', title: titleOf(thread), note: appName, at };
  if (!isDetailed)
    return (
      <Line {...line}>
        <OpenThread thread={thread} />
      </Line>
    );
  if (query.error && !query.data)
    return (
      <Line {...line} below={<Failure error={query.error} retry={() => void query.refetch()} />}>
        <OpenThread thread={thread} />
      </Line>
    );
  if (!query.data) return <Line {...line} below={<Skeleton lines={1} />} />;
  return open.map((approval) => (
    <Line
      key={approval.id}
      {...line}
      below={
        <Suspense fallback={<Skeleton lines={1} />}>
          <Question approval={approval} appId={appId} />
        </Suspense>
      }
    />
  ));
}

function FailedRunRow({ thread, appName, at, isDetailed, onDismiss }: ThreadRow & { onDismiss: () => void }) {
  const { id: threadId, projectId: appId, latestRunId } = thread;
  const run = useQuery({
    ...runQuery(appId, threadId, latestRunId ?? ''),
    enabled: isDetailed && latestRunId !== null,
  });
  const error = run.data?.error;
  return (
    <Line
      status="failed"
      title={
        error?.code === 'spend_limit_reached'
          ? `Over budget: ${titleOf(thread)}`
          : `Run failed: ${titleOf(thread)}`
      }
      note={error ? `${error.message} · ${appName}` : appName}
      at={at}
      onDismiss={onDismiss}
    >
      <OpenThread thread={thread} />
    </Line>
  );
}

function Line({
  status,
  word,
  title,
  note,
  at,
  onDismiss,
  below,
  children,
}: {
  status: string;
  word?: string;
  title: string;
  note: string;
  at: string;
  onDismiss?: () => void;
  /** In a line of its own. */
  below?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
      {/* On a phone: status and time, what it is, what can be done. */}
      <span className="w-24 shrink-0 max-sm:order-first max-sm:grow">
        <Status status={status} {...(word && { word })} />
      </span>
      <div className="min-w-0 flex-[1_1_240px] max-sm:basis-full">
        <p className="long font-bold">
          <Plain text={title} />
        </p>
        <p className="long line-clamp-2 text-ink-2">
          <Plain text={note} />
        </p>
      </div>
      <span className="text-ink-3 max-sm:order-first">
        <Time at={at} />
      </span>
      {children && <div className="flex sm:w-28 sm:justify-end">{children}</div>}
      {onDismiss && (
        <span className="-mr-1.5 flex max-sm:ml-auto">
          <IconButton label="Take it off the list" onPress={onDismiss}>
            <Check size={14} />
          </IconButton>
        </span>
      )}
      {/* As high as a short question, so that nothing moves as it comes. */}
      {below && <div className="flex min-h-23 min-w-0 basis-full flex-col gap-2 sm:pl-27">{below}</div>}
    </div>
  );
}
