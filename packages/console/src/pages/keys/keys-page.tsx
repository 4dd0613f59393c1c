/** Service accounts: what programs are allowed, and when each last came. */
import type { Account, Credential } from '@headrace/client';
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { itemsOf } from '../../api/query.ts';
import { useIsAdmin } from '../../api/session.ts';
import { accountsQuery, credentialsQuery, isValid } from '../../api/team-queries.ts';
import { useOffReason } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { plural, Time, useNow } from '../../ui/values.tsx';
import { NewAccount } from './new-account.tsx';
import { summaryOf } from './permissions.ts';

/** The keys of each account are a read of their own: so many at once, more on demand. */
const READ_FIRST = 5;
const READ_MORE = 20;

export function KeysPage() {
  const isAdmin = useIsAdmin();
  const off = useOffReason();
  const accounts = useInfiniteQuery(accountsQuery());
  const items = itemsOf(accounts.data);
  const [read, setRead] = useState(READ_FIRST);
  const keys = useQueries({ queries: items.slice(0, read).map(({ id }) => credentialsQuery(id)) });
  const [isOpen, setOpen] = useState(false);
  const failed = keys.filter(({ data, isError }) => data === undefined && isError);
  const add = () => setOpen(true);
  useKeys(isAdmin ? [{ keys: 'n', does: 'New service account', run: add }] : []);
  return (
    <Page
      title="Keys"
      actions={
        isAdmin && (
          <Button kind="primary" offBecause={off} onPress={add}>
            New service account
          </Button>
        )
      }
    >
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">
        Programs sign in by the key of a service account, which says what they may do and where. An account
        can have several keys, so that one takes over from another.
      </p>
      <Shown query={accounts}>
        {() =>
          items.length === 0 ? (
            <Empty title="No service accounts">
              <p>Make one for each program that calls the API, with no more permissions than it needs.</p>
              <Button offBecause={off} onPress={add}>
                Make the first
              </Button>
            </Empty>
          ) : (
            <ul aria-label="Service accounts" className="border-t border-line">
              {items.map((account, i) => (
                <Row key={account.id} account={account} read={keys[i]} />
              ))}
            </ul>
          )
        }
      </Shown>
      {failed.length > 0 && (
        <div className="flex flex-wrap items-center gap-2 px-4 pt-2">
          <p role="alert" className="text-fail">
            The keys of {plural(failed.length, 'account')} were not read.
          </p>
          <Button
            isPending={failed.some(({ isFetching }) => isFetching)}
            onPress={() => {
              for (const { refetch } of failed) void refetch();
            }}
          >
            Try again
          </Button>
        </div>
      )}
      <div className="flex flex-wrap gap-2 px-4 py-2 empty:hidden">
        {items.length > read && (
          <Button onPress={() => setRead(read + READ_MORE)}>
            Show the last use of {Math.min(READ_MORE, items.length - read)} more
          </Button>
        )}
        {accounts.hasNextPage && (
          <Button isPending={accounts.isFetchingNextPage} onPress={() => void accounts.fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
      <NewAccount isOpen={isOpen} onClose={() => setOpen(false)} />
    </Page>
  );
}

function Row({
  account: { id: accountId, name, permissions, projectIds, disabled },
  read,
}: {
  account: Account;
  /** Of its keys; undefined: not asked for yet. */
  read: Pick<UseQueryResult<{ items: Credential[] }>, 'data' | 'isError'> | undefined;
}) {
  return (
    <li>
      <Link
        data-row
        to="/organization/keys/$accountId"
        params={{ accountId }}
        className="row flex-wrap gap-y-0 md:flex-nowrap"
      >
        <span className="long flex-1 basis-full md:basis-48">
          <Plain text={name} />
          {disabled && <span className="text-wait"> · disabled</span>}
        </span>
        <span className="min-w-0 flex-1 basis-full truncate text-12 text-ink-2 md:basis-56">
          {summaryOf(permissions)}
        </span>
        <span className="text-12 text-ink-3 md:w-28">
          {projectIds ? plural(projectIds.length, 'project') : 'all projects'}
        </span>
        <span className="text-12 text-ink-3 md:w-48 md:text-right">
          {read?.data ? <Uses keys={read.data.items} /> : read?.isError ? 'keys not read' : read && '…'}
        </span>
      </Link>
    </li>
  );
}

function Uses({ keys }: { keys: readonly Credential[] }) {
  const now = useNow();
  const valid = keys.filter((key) => isValid(key, now)).length;
  const last = lastUseOf(keys);
  return (
    <>
      {valid === 0 ? <span className="text-wait">no valid key</span> : plural(valid, 'valid key')}
      {' · '}
      {last === null ? (
        'never used'
      ) : (
        <>
          used <Time at={last} />
        </>
      )}
    </>
  );
}

/** Of any of its keys. */
const lastUseOf = (keys: readonly Credential[]): string | null =>
  keys
    .map(({ lastUsedAt }) => lastUsedAt)
    .filter((at) => at !== null)
    .toSorted()
    .at(-1) ?? null;
