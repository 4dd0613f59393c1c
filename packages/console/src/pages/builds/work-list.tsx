/** The list of an app's builds or previews: narrowed to a status, with a button and a key for a new one. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { Page as PageOf } from '@headrace/client';
import type { ReactNode } from 'react';
import { itemsOf } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { StatusFilter } from './status-filter.tsx';

interface WorkListProps<T extends { id: string }, S extends string> {
  what: 'build' | 'preview';
  /** What the button for a new one says. */
  action: string;
  onAction: () => void;
  query: UseInfiniteQueryResult<InfiniteData<PageOf<T>>>;
  statuses: readonly S[];
  status: S | undefined;
  onStatus: (status: S | undefined) => void;
  renderRow: (item: T) => ReactNode;
  /** What one is, where there is none yet. */
  about: string;
  /** The dialog. */
  children: ReactNode;
}

export function WorkList<T extends { id: string }, S extends string>(props: WorkListProps<T, S>) {
  const { what, action, onAction, query, statuses, status, onStatus, renderRow, about, children } = props;
  const off = useOffReason();
  const may = useMay('thread:update');
  useKeys(may ? [{ keys: 'n', does: action, run: onAction }] : []);
  const title = what === 'build' ? 'Builds' : 'Previews';
  const items = itemsOf(query.data);
  return (
    <Page
      title={title}
      actions={
        may && (
          <Button kind="primary" offBecause={off} onPress={onAction}>
            {action}
          </Button>
        )
      }
    >
      <StatusFilter label="Status" statuses={statuses} value={status} onChange={onStatus} />
      <Shown query={query}>
        {() => (
          <>
            {items.map(renderRow)}
            {items.length === 0 && (
              <Empty title={status ? `No ${what} is ${status}` : `No ${what}s yet`}>
                <p>{status ? `${title} with another status are not shown.` : about}</p>
              </Empty>
            )}
          </>
        )}
      </Shown>
      {query.hasNextPage && (
        <div className="px-4 py-2">
          <Button isPending={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      {children}
    </Page>
  );
}
