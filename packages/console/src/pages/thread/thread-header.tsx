/** What the thread is, what it waits for, and what comes next. */
import type { Run } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { appliesQuery, appQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Status } from '../../ui/status.tsx';
import { dollars, Id, plural, Time } from '../../ui/values.tsx';
import { About } from './about.tsx';
import { useThread } from './context.ts';
import { isActive } from './entries.ts';
import { StopButton } from './run-actions.tsx';
import { ForkedFrom } from './parent.tsx';
import { reasonsOf } from './run-words.ts';
import { ThreadMenu } from './thread-menu.tsx';

interface HeaderProps {
  runs: Run[];
  /** Whether these are all of its runs. */
  isWhole: boolean;
  isReadOut: boolean;
  onReadOut: (on: boolean) => void;
}

export function ThreadHeader({ runs, isWhole, isReadOut, onReadOut }: HeaderProps) {
  const { appId, threadId, thread } = useThread();
  const { sourceId, latestSourceId } = thread;
  const hasChanges = latestSourceId !== null && latestSourceId !== sourceId;
  const active = runs.some(isActive);
  const reasons = reasonsOf(thread);
  // There, a pull request brings it in.
  const hasRepository = useQuery(appQuery(appId)).data?.repositoryId != null;
  return (
    <header className="flex shrink-0 flex-col gap-1 border-b border-line px-4 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="mr-auto flex min-w-0 items-center gap-3">
          <span className="truncate text-15 font-bold md:text-19" title={thread.title ?? threadId}>
            <Plain text={thread.title ?? 'Untitled thread'} />
          </span>
          <Status status={thread.status} />
        </h1>
        <div className="flex flex-wrap items-center gap-1">
          {active && <StopButton />}
          {!hasRepository && (
            <ButtonLink
              kind={hasChanges && !active ? 'primary' : 'plain'}
              to="/apps/$appId/threads/$threadId/apply"
              params={{ appId, threadId }}
            >
              Preview the apply
            </ButtonLink>
          )}
          <ButtonLink
            to="/apps/$appId/threads/$threadId"
            params={{ appId, threadId }}
            search={{ panel: 'builds' }}
          >
            Build
          </ButtonLink>
          <ThreadMenu isReadOut={isReadOut} onReadOut={onReadOut} />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-4 text-12 text-ink-3">
        <span className="-mr-2">
          <Id value={threadId} />
        </span>
        {thread.forkedFrom && <ForkedFrom threadId={thread.forkedFrom.threadId} />}
        <About />
        {sourceId !== null && thread.baseCommitSha === null && (
          <Link
            to="/apps/$appId/sources/$sourceId"
            params={{ appId, sourceId }}
            className="link max-md:hidden"
            title={sourceId}
          >
            started from …{sourceId.slice(-6)}
          </Link>
        )}
        {hasChanges && sourceId !== null && (
          <Link
            to="/apps/$appId/diff"
            params={{ appId }}
            search={{ from: sourceId, to: latestSourceId, thread: threadId }}
            className="link"
            title={latestSourceId}
          >
            changes to …{latestSourceId.slice(-6)}
          </Link>
        )}
        {thread.setupId !== null && thread.workspaceSetupStatus === 'ready' && (
          <span className="max-md:hidden">
            <SetupLink setupId={thread.setupId}>setup …{thread.setupId.slice(-6)}</SetupLink>
          </span>
        )}
        <Spend runs={runs} isWhole={isWhole} />
        <span className="max-sm:hidden">
          begun <Time at={thread.createdAt} />
        </span>
      </div>
      {!hasRepository && <Conflicted />}
      <SetupLine />
      {reasons.map((reason) => (
        <p key={reason} className="long text-wait">
          <Plain text={reason} />
        </p>
      ))}
    </header>
  );
}

/** The thread is ready again, but what it was asked for did not happen. */
function Conflicted() {
  const { appId, threadId, thread } = useThread();
  const { data } = useInfiniteQuery(appliesQuery(appId, { threadId }));
  const last = itemsOf(data)[0];
  if (last?.status !== 'conflicted' || thread.sealedAt !== null || thread.archivedAt !== null) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-wait">
      <Status
        status="conflicted"
        word={`Its apply ended with ${plural(last.conflicts.length, 'conflict')}.`}
      />
      <Link to="/apps/$appId/threads/$threadId/apply" params={{ appId, threadId }} className="link">
        Resolve
      </Link>
    </p>
  );
}

/** The setup that its workspace waits for, or does without. */
function SetupLine() {
  const { setupId, workspaceSetupStatus, archivedAt } = useThread().thread;
  if (setupId === null || archivedAt !== null) return null;
  if (workspaceSetupStatus !== 'running' && workspaceSetupStatus !== 'failed') return null;
  const hasFailed = workspaceSetupStatus === 'failed';
  return (
    <p className="flex flex-wrap items-center gap-x-3">
      <Status status={workspaceSetupStatus} word={hasFailed ? 'Setup failed' : 'Setup under way'} />
      <span className="text-ink-2">
        {hasFailed ? 'The thread goes on without its layer.' : 'Runs wait until it has ended.'}
      </span>
      <SetupLink setupId={setupId}>Show the setup</SetupLink>
    </p>
  );
}

const SetupLink = ({ setupId, children }: { setupId: string; children: ReactNode }) => (
  <Link
    to="/apps/$appId/setups/$setupId"
    params={{ appId: useThread().appId, setupId }}
    className="link"
    title={setupId}
  >
    {children}
  </Link>
);

/** What its runs have cost, against its limit. */
function Spend({ runs, isWhole }: { runs: Run[]; isWhole: boolean }) {
  const { thread } = useThread();
  const limit = thread.spendLimitMicros;
  const spent = runs.reduce((sum, { usage }) => sum + usage.costMicros, 0);
  if (limit === null && spent === 0) return null;
  const said = `${isWhole ? '' : 'at least '}${dollars(spent)}`;
  if (limit === null) return <span className="tabular-nums">{said} spent</span>;
  const part = limit === 0 ? 1 : Math.min(1, spent / limit);
  return (
    <span className="flex items-center gap-2 tabular-nums">
      <span
        role="meter"
        aria-label="Spent of the limit"
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(spent, limit)}
        aria-valuetext={`${said} of ${dollars(limit)}`}
        className="block h-1.5 w-16 border border-strong"
      >
        <span
          className={`block h-full ${part >= 1 ? 'bg-fail' : part > 0.8 ? 'bg-wait' : 'bg-water'}`}
          style={{ width: `${part * 100}%` }}
        />
      </span>
      {said} of {dollars(limit)}
    </span>
  );
}
