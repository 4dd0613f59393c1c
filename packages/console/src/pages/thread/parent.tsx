/** The thread that another one is a fork of. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { faultOf } from '../../api/faults.ts';
import { threadQuery } from '../../api/queries.ts';
import { Plain } from '../../code/plain.tsx';
import { useThread } from './context.ts';

/** What it is called; null once it is deleted. */
export function useParentTitle(threadId: string): string | null {
  const { appId } = useThread();
  const { data, error } = useQuery(threadQuery(appId, threadId));
  if (error && faultOf(error).isGone) return null;
  return data ? (data.title ?? 'Untitled thread') : `…${threadId.slice(-6)}`;
}

export function ForkedFrom({ threadId }: { threadId: string }) {
  const { appId } = useThread();
  const title = useParentTitle(threadId);
  if (title === null) return <span title={threadId}>forked from a thread that is deleted</span>;
  return (
    <Link
      to="/apps/$appId/threads/$threadId"
      params={{ appId, threadId }}
      className="link max-w-80 truncate"
      title={title}
    >
      forked from <Plain text={title} />
    </Link>
  );
}
