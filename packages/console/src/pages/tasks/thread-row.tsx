import type { PullRequestSummary, Thread } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/plain.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { ProviderLink } from '../pull-requests/marks.tsx';

/** A thread of a task, with its pull requests. */
export function ThreadRow({ thread, taskId }: { thread: Thread; taskId: string }) {
  const { id: threadId, projectId: appId, status, title, tasks, pullRequests, updatedAt } = thread;
  const index = tasks.find(({ id }) => id === taskId)?.threadIndex;
  return (
    <li className="row flex-wrap gap-y-0 py-1">
      <span className="w-24 shrink-0">
        <Status status={status} />
      </span>
      {index !== undefined && (
        <span
          className="w-6 shrink-0 font-mono text-mono text-ink-3"
          title="Its place among the task’s threads"
        >
          {index}
        </span>
      )}
      <span className="long min-w-0 flex-[1_1_200px]">
        <Link
          data-row
          to="/apps/$appId/threads/$threadId"
          params={{ appId, threadId }}
          className="font-bold hover:underline"
        >
          <Plain text={title ?? 'Untitled thread'} />
        </Link>
        {pullRequests.length > 0 && (
          <span className="flex flex-wrap gap-x-4 text-12 text-ink-2">
            {pullRequests.map((pullRequest) => (
              <PullRequestLink key={pullRequest.id} pullRequest={pullRequest} />
            ))}
          </span>
        )}
      </span>
      <span className="ml-auto text-12 text-ink-3">
        <Time at={updatedAt} />
      </span>
    </li>
  );
}

/** Where it is, and how it stands. */
export function PullRequestLink({ pullRequest }: { pullRequest: PullRequestSummary }) {
  const { repoFullName, number, state, draft } = pullRequest;
  return (
    <span>
      <ProviderLink pull={pullRequest} text={`${repoFullName}#${number}`} />{' '}
      {state === 'open' && draft ? 'draft' : state}
    </span>
  );
}
