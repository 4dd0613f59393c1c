/** Where a thread of a project is from: branch and commit, task and issues, the automation that made it. */
import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/plain.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { CopyButton } from '../../ui/values.tsx';
import { useThread } from './context.ts';
import { issueOf } from './issue.ts';

/** Nothing for most threads of an app. */
export function About() {
  const { thread } = useThread();
  const { tasks, trackerIssueUrl, automationId, createdByAutomation } = thread;
  const issue = issueOf(thread.errorTrackerIssue);
  return (
    <>
      <Base />
      <AtHost />
      {tasks.map(({ id, identifier, title, threadIndex }) => (
        <Link
          key={id}
          to="/tasks/$taskId"
          params={{ taskId: id }}
          className="link max-w-80 truncate"
          title={title}
        >
          task <Plain text={identifier} />, thread {threadIndex}
        </Link>
      ))}
      {trackerIssueUrl !== null && (
        <span className="max-w-80 truncate">
          <OutsideLink href={trackerIssueUrl} text="issue" />
        </span>
      )}
      {issue && (
        <span className="max-w-80 truncate">
          <OutsideLink href={issue.url} text={`error ${issue.name}`} />
        </span>
      )}
      {automationId !== null ? (
        <Link to="/automations/$automationId" params={{ automationId }} className="link">
          made by an automation
        </Link>
      ) : (
        createdByAutomation && <span>made by an automation</span>
      )}
    </>
  );
}

/** The person's own machine that it works on. */
function AtHost() {
  const { executionTarget } = useThread().thread;
  const hostId = executionTarget?.['hostId'];
  const mode = executionTarget?.['workspaceMode'];
  if (typeof hostId !== 'string') return null;
  return (
    <Link to="/organization/hosts/$hostId" params={{ hostId }} className="link">
      {mode === 'worktree' ? 'in a worktree at a host' : 'in a folder of a host'}
    </Link>
  );
}

/** The branch and the commit that it started from. */
function Base() {
  const { appId, thread } = useThread();
  const { baseBranch, baseCommitSha, sourceId } = thread;
  if (baseBranch === null && baseCommitSha === null) return null;
  return (
    <span className="flex min-w-0 items-center gap-1">
      {baseBranch !== null && (
        <span className="max-w-60 truncate" title={baseBranch}>
          from <Plain text={baseBranch} />
        </span>
      )}
      {baseCommitSha !== null && (
        <span className="flex items-center font-mono text-mono">
          {sourceId === null ? (
            baseCommitSha.slice(0, 7)
          ) : (
            <Link
              to="/apps/$appId/sources/$sourceId"
              params={{ appId, sourceId }}
              className="link"
              title={`Commit ${baseCommitSha}`}
            >
              {baseCommitSha.slice(0, 7)}
            </Link>
          )}
          <CopyButton text={baseCommitSha} label="Copy the commit" />
        </span>
      )}
    </span>
  );
}
