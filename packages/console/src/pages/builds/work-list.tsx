/** The list of an app's builds, previews or setups: narrowed, with a button and a key for a new one. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { Page as PageOf } from '@headrace/client';
import type { ReactNode } from 'react';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { StatusFilter } from './status-filter.tsx';

const TITLES = { build: 'Builds', preview: 'Previews', setup: 'Setups' };

interface WorkListProps<T extends { id: string }, S extends string> {
  what: keyof typeof TITLES;
  /** What the button for a new one says. */
  action: string;
  onAction: () => void;
  query: UseInfiniteQueryResult<InfiniteData<PageOf<T>>>;
  /** Null where there is nothing to narrow by. */
  filter: { statuses: readonly S[]; value: S | undefined; onChange: (status: S | undefined) => void } | null;
  /** Narrowed by what `children` show. */
  isNarrowed?: boolean;
  renderRow: (item: T) => ReactNode;
  /** What one is, where there is none yet. */
  about: string;
  /** The dialog, and what else is above the list. */
  children: ReactNode;
}

export function WorkList<T extends { id: string }, S extends string>(props: WorkListProps<T, S>) {
  const { what, action, onAction, query, filter, isNarrowed = false, renderRow, about, children } = props;
  const off = useOffReason();
  const may = useMay('thread:update');
  useKeys(may ? [{ keys: 'n', does: action, run: onAction }] : []);
  const title = TITLES[what];
  const status = filter?.value;
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
      {filter && <StatusFilter label="Status" {...filter} />}
      {children}
      <Shown query={query}>
        {() => (
          <>
            {items.map(renderRow)}
            {items.length === 0 && (
              <Empty
                title={
                  status
                    ? `No ${what} is ${status}`
                    : isNarrowed
                      ? `No ${what} is like that`
                      : `No ${what}s yet`
                }
              >
                <p>{status || isNarrowed ? `Other ${what}s are not shown.` : about}</p>
              </Empty>
            )}
          </>
        )}
      </Shown>
      <ShowMore list={query} />
    </Page>
  );
}
