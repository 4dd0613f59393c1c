/** The states of a page or of a part of it: loading, empty, failed, unknown. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { faultOf } from '../api/faults.ts';
import { Button } from './button.tsx';
import { CopyButton } from './values.tsx';

/** A quick answer shows no skeleton. */
const SKELETON_AFTER_MS = 150;

/** Grey lines in the place of what comes. They keep their place from the start, so that nothing moves. */
export function Skeleton({ lines = 4, height = 36 }: { lines?: number; height?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label="Loading" data-skeleton className={isShown ? '' : 'invisible'}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className="flex items-center px-4" style={{ height }}>
          <div className="skeleton h-3" style={{ width: `${70 - ((i * 23) % 45)}%` }} />
        </div>
      ))}
    </div>
  );
}

/** Nothing is here: says why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-2 px-4 py-6">
      <p className="text-15 font-bold">{title}</p>
      {children && (
        <div className="flex max-w-[64ch] flex-col items-start gap-2 text-pretty text-ink-2">{children}</div>
      )}
    </div>
  );
}

/** A failed read: what happened, the request's id, and another try. The rest of the page lives on. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, message, requestId, isGone } = faultOf(error);
  return (
    <div
      role="alert"
      className={`flex flex-col items-start gap-2 px-4 py-6 ${isGone ? '' : 'border-l-2 border-fail'}`}
    >
      <p className="text-15 font-bold">{title}</p>
      <p className="long max-w-[72ch] text-ink-2">{message}</p>
      <div className="flex flex-wrap items-center gap-2">
        {retry && !isGone && (
          <Button onPress={retry} kind="plain">
            Try again
          </Button>
        )}
        {requestId && (
          <span className="-mr-1.5 flex items-center font-mono text-12 text-ink-3">
            request {requestId}
            <CopyButton text={requestId} label="Copy the request’s id" />
          </span>
        )}
      </div>
    </div>
  );
}

/** What a query has, or its state. Data that is shown stays while a later read fails: the header says that. */
export function Shown<T>({
  query,
  skeleton = <Skeleton />,
  children,
}: {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return skeleton;
}
