/** What the agent waits for: the first thing seen. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { approvalsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Skeleton } from '../../ui/states.tsx';
import { useThread } from './context.ts';
import { openApprovals } from './entries.ts';

const Waiting = lazy(async () => ({ default: (await import('./waiting.tsx')).Waiting }));

export function Approvals() {
  const { appId, threadId, thread } = useThread();
  // The status says it in the same transaction: any other thread has none that is open.
  const isWaiting = thread.status === 'waiting';
  const query = useInfiniteQuery({ ...approvalsQuery(appId, threadId), enabled: isWaiting });
  const open = openApprovals(itemsOf(query.data));
  if (!isWaiting || open.length === 0) return null;
  return (
    <section
      aria-label="Waits for you"
      className="max-h-[50%] shrink-0 overflow-auto border-b border-line bg-wait-wash"
    >
      <Suspense fallback={<Skeleton lines={3} />}>
        {open.map((approval) => (
          <Waiting key={approval.id} approval={approval} />
        ))}
      </Suspense>
    </section>
  );
}
