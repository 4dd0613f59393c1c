/** One service account: what it may do, and its keys. */
import type { Account, Credential } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { projectNamesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { accountQuery, credentialsQuery, isValid } from '../../api/team-queries.ts';
import { useOffReason } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeptFocus } from '../../ui/kept-focus.ts';
import { useKeys } from '../../ui/keys.ts';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time, useNow } from '../../ui/values.tsx';
import { ChangeAccount } from './change-account.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { EnableAccount } from './enable-account.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { summaryOf } from './permissions.ts';

const route = getRouteApi('/signed-in/organization/keys/$accountId');

type Over =
  | { is: 'change' }
  | { is: 'disable' }
  | { is: 'delete' }
  | { is: 'revoke'; credential: Credential };

const TITLES: Record<Over['is'], string> = {
  change: 'Change the service account',
  disable: 'Disable or enable',
  delete: 'Delete the service account',
  revoke: 'Revoke a key',
};

export function ServiceAccountPage() {
  const { accountId } = route.useParams();
  const account = useQuery(accountQuery(accountId));
  return (
    <Page
      title={account.data?.name ?? 'Service account'}
      heading={account.data && <Plain text={account.data.name} />}
    >
      <Shown query={account}>{(shown) => <Whole key={accountId} account={shown} />}</Shown>
    </Page>
  );
}

function Whole({ account }: { account: Account }) {
  const off = useOffReason();
  const [over, setOver] = useState<Over | null>(null);
  const close = () => setOver(null);
  const [isRotating, setRotating] = useState(false);
  const rotate = () => setRotating(true);
  useKeys([{ keys: 'n', does: 'New key', run: rotate }]);
  return (
    <>
      <div className="flex flex-wrap gap-2 px-4 pb-2">
        <Button offBecause={off} onPress={() => setOver({ is: 'change' })}>
          Change
        </Button>
        <Button offBecause={off} onPress={() => setOver({ is: 'disable' })}>
          {account.disabled ? 'Enable' : 'Disable'}
        </Button>
        <Button kind="danger" offBecause={off} onPress={() => setOver({ is: 'delete' })}>
          Delete
        </Button>
      </div>
      <About account={account} />
      <Section
        title="Keys"
        actions={
          <Button kind="primary" offBecause={off} onPress={rotate}>
            New key
          </Button>
        }
      >
        <Credentials
          accountId={account.id}
          onRevoke={(credential) => setOver({ is: 'revoke', credential })}
        />
      </Section>
      <Dialog
        title={over ? TITLES[over.is] : ''}
        wide={over?.is === 'change'}
        isOpen={over !== null}
        onClose={close}
      >
        {over?.is === 'change' && <ChangeAccount account={account} onClose={close} />}
        {over?.is === 'disable' && <EnableAccount account={account} onClose={close} />}
        {over?.is === 'delete' && <DeleteAccount account={account} onClose={close} />}
        {over?.is === 'revoke' && <RevokeKey credential={over.credential} onClose={close} />}
      </Dialog>
      <NewKey account={account} isOpen={isRotating} onClose={() => setRotating(false)} />
    </>
  );
}

function About({
  account: { id, permissions, projectIds, disabled, createdAt, updatedAt },
}: {
  account: Account;
}) {
  return (
    <>
      {disabled && (
        <p className="mx-4 mb-2 border-l-2 border-wait pl-3">Disabled: all of its keys are refused.</p>
      )}
      <Facts>
        <Fact name="Id">
          <Id value={id} />
        </Fact>
        <Fact name="May do">{summaryOf(permissions)}</Fact>
        <Fact name="Reaches">
          {projectIds === null ? 'All apps and projects' : <Reach ids={projectIds} />}
        </Fact>
        <Fact name="Saved">
          <span>
            <Time at={updatedAt} />
            <span className="text-ink-3"> · made </span>
            <Time at={createdAt} />
          </span>
        </Fact>
        <Fact name="History">
          <Link to="/organization/audit" search={{ query: id }} className="link">
            In the audit log
          </Link>
        </Fact>
      </Facts>
    </>
  );
}

function Reach({ ids }: { ids: readonly string[] }) {
  const { data } = useInfiniteQuery(projectNamesQuery());
  const names = new Map(itemsOf(data).map(({ id, name }) => [id, name]));
  return (
    <ul className="flex flex-wrap gap-x-4">
      {ids.map((appId) => (
        <li key={appId}>
          {names.has(appId) ? (
            <Link to="/apps/$appId" params={{ appId }} className="link">
              <Plain text={names.get(appId)!} />
            </Link>
          ) : (
            <Id value={appId} />
          )}
        </li>
      ))}
    </ul>
  );
}

function Credentials({
  accountId,
  onRevoke,
}: {
  accountId: string;
  onRevoke: (credential: Credential) => void;
}) {
  const credentials = useQuery(credentialsQuery(accountId));
  const now = useNow();
  const kept = useKeptFocus();
  return (
    <Shown query={credentials} skeleton={<Skeleton lines={2} />}>
      {({ items, hasMore }) =>
        items.length === 0 ? (
          <Empty title="No keys">
            <p>Nothing can sign in as this account until it has one.</p>
          </Empty>
        ) : (
          <>
            <ul aria-label="Keys" {...kept} className="border-t border-line">
              {items.map((credential) => (
                <Row
                  key={credential.id}
                  credential={credential}
                  isValid={isValid(credential, now)}
                  onRevoke={() => onRevoke(credential)}
                />
              ))}
            </ul>
            {hasMore && <p className="px-4 py-2 text-ink-2">Older keys are not shown.</p>}
          </>
        )
      }
    </Shown>
  );
}

function Row({
  credential: { id, revoked, expiresAt, lastUsedAt, createdAt },
  isValid: isOn,
  onRevoke,
}: {
  credential: Credential;
  isValid: boolean;
  onRevoke: () => void;
}) {
  return (
    <li className="row flex-wrap gap-y-0 md:flex-nowrap">
      <span className="w-32">
        <Id value={id} />
      </span>
      <span className="flex-1">
        <Status status={revoked ? 'revoked' : isOn ? 'valid' : 'expired'} />
      </span>
      <span className="text-12 text-ink-3 max-md:order-1 max-md:basis-full md:w-96">
        {lastUsedAt === null ? (
          'never used'
        ) : (
          <>
            used <Time at={lastUsedAt} />
          </>
        )}
        {' · made '}
        <Time at={createdAt} />
        {!revoked && (
          <>
            {isOn ? ' · expires ' : ' · expired '}
            <Time at={expiresAt} />
          </>
        )}
      </span>
      <span className="-mr-2.5 flex justify-end md:w-24">
        {isOn && (
          <Button kind="quiet" data-row aria-label={`Revoke ${id}`} onPress={onRevoke}>
            Revoke
          </Button>
        )}
      </span>
    </li>
  );
}
