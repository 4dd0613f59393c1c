import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Fault } from '../../api/faults.ts';
import { FaultLine } from '../../ui/fault-line.tsx';

/** A refused write of a pull request in the service's words, and the way on that only the console knows. */
export function RefusalLine({
  fault,
  at,
  appId,
  threadId,
}: {
  fault: Fault | null;
  at?: readonly string[];
  appId: string;
  threadId: string;
}) {
  if (!fault) return null;
  const more = wayOn(fault, appId, threadId);
  return (
    <div className="flex flex-col gap-1">
      <FaultLine fault={fault} {...(at && { at })} />
      {more && <p className="long pl-3.5 text-ink-2">{more}</p>}
    </div>
  );
}

function wayOn({ code, details }: Fault, appId: string, threadId: string): ReactNode {
  const params = { appId, threadId };
  switch (code) {
    case 'pull_request_exists':
      return typeof details['pullRequestId'] === 'string' ? (
        <Link
          to="/apps/$appId/threads/$threadId"
          params={params}
          search={{ panel: 'pull-request', pull: details['pullRequestId'] }}
          className="link"
        >
          Show the one that is open
        </Link>
      ) : null;
    case 'no_changes':
      return 'A message or an edit of a file makes a change; an applied one counts, too.';
    case 'thread_busy':
      return details['reason'] === 'pull_request'
        ? 'Another write of its pull request is under way: it ends within a minute or two.'
        : 'It is idle when its run, command or build has ended. You may stop it.';
    case 'scm_access_denied':
    case 'scm_repository_gone':
      return (
        <>
          {typeof details['permission'] === 'string' && `It lacks ${details['permission']}. `}
          <Link to="/organization/repositories" className="link">
            Look at the connection
          </Link>
        </>
      );
    case 'head_moved':
      return 'Others have pushed, or the thread has. Look at what is new first.';
    case 'merge_refused':
      return details['reason'] === 'conflicting' ? 'Use “Update the branch”, then merge.' : null;
    default:
      return null;
  }
}
