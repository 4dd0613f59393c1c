/** One line of the inbox, with what can be done about it at once. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Approval, Thread } from '@headrace/client';
import { approvalsQuery, itemsOf, runQuery } from '../../api/queries.ts';
import { client } from '../../api/client.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx';
import { notify } from '../../ui/notices.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, plural } from '../../ui/values.tsx';
import type { Waiting } from './waiting.ts';

interface RowProps {
  item: Waiting;
  appName: string;
  onDismiss: () => void;
}

export function WaitingRow({ item, appName, onDismiss }: RowProps) {
  switch (item.kind) {
    case 'approval':
      return <ApprovalRow thread={item.thread} appName={appName} at={item.at} />;
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
      return <FailedRunRow thread={item.thread} appName={appName} at={item.at} onDismiss={onDismiss} />;
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
  }
}

const titleOf = (thread: Thread | null) => thread?.title ?? 'Untitled thread';

function ApprovalRow({ thread, appName, at }: { thread: Thread; appName: string; at: string }) {
  const { data } = useInfiniteQuery(approvalsQuery(thread.projectId, thread.id));
  const open = itemsOf(data).filter(({ status }) => status === 'pending');
  return (
    <>
      {open.map((approval) => (
        <Line
          key={approval.id}
          status="waiting"
          word="approve?"
          title={approval.title}
          note={`${titleOf(thread)} · ${appName}`}
          at={at}
        >
          <Answer approval={approval} appId={thread.projectId} />
        </Line>
      ))}
    </>
  );
}

function Answer({ approval, appId }: { approval: Approval; appId: string }) {
  const off = useOffReason();
  const { threadId, id } = approval;
  const answer = useWrite({
    intent: `answer ${id}`,
    call: (body: { decision: 'approve' | 'deny'; remember?: boolean }, options) =>
      client.approvals.answer(appId, threadId, id, body, options),
    onDone: (_, { decision }) => notify(decision === 'approve' ? 'Approved' : 'Denied'),
  });
  return (
    <>
      {answer.fault && <span className="long text-fail">{answer.fault.message}</span>}
      <Button
        kind="primary"
        data-row
        isPending={answer.isSending}
        offBecause={off}
        onPress={() => answer.send({ decision: 'approve' })}
      >
        Approve
      </Button>
      <Button
        isPending={answer.isSending}
        offBecause={off}
        onPress={() => answer.send({ decision: 'approve', remember: true })}
      >
        Always
      </Button>
      <Button
        kind="danger"
        isPending={answer.isSending}
        offBecause={off}
        onPress={() => answer.send({ decision: 'deny' })}
      >
        Deny
      </Button>
      <ButtonLink kind="quiet" to="/apps/$appId/threads/$threadId" params={{ appId, threadId }}>
        Open
      </ButtonLink>
    </>
  );
}

function FailedRunRow({
  thread,
  appName,
  at,
  onDismiss,
}: {
  thread: Thread;
  appName: string;
  at: string;
  onDismiss: () => void;
}) {
  const { id: threadId, projectId: appId, latestRunId } = thread;
  const run = useQuery({ ...runQuery(appId, threadId, latestRunId ?? ''), enabled: latestRunId !== null });
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
      <ButtonLink data-row to="/apps/$appId/threads/$threadId" params={{ appId, threadId }}>
        Open
      </ButtonLink>
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
  children,
}: {
  status: string;
  word?: string;
  title: string;
  note: string;
  at: string;
  onDismiss?: () => void;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
      <span className="w-24 shrink-0">
        <Status status={status} {...(word && { word })} />
      </span>
      <div className="min-w-0 flex-[1_1_240px]">
        <p className="long font-bold">{title}</p>
        <p className="long line-clamp-2 text-ink-2">{note}</p>
      </div>
      <span className="text-ink-3">
        <Time at={at} />
      </span>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
      {onDismiss && (
        <IconButton label="Take it off the list" onPress={onDismiss}>
          <Check size={14} />
        </IconButton>
      )}
    </div>
  );
}
