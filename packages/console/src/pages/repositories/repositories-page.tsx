/** Where repositories come from, and the repositories. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Installation } from '@headrace/client';
import {
  installationsQuery,
  isFirstRead,
  REPOSITORIES,
  repositoriesQuery,
} from '../../api/repositories-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useIsAdmin, useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Find } from '../../ui/find.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page, Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { Connect } from './connect.tsx';
import { InstallationList } from './installation-list.tsx';
import { NewRepository } from './new-repository.tsx';
import { RepositoryList } from './repository-list.tsx';

const route = getRouteApi('/signed-in/organization/repositories');
const ALL = 'all';

export function RepositoriesPage() {
  const { query = '', installationId } = route.useSearch();
  const navigate = route.useNavigate();
  const [over, setOver] = useState<'connect' | 'new' | null>(null);
  const isAdmin = useIsAdmin();
  const mayCreate = useMay('repo:update');
  const installations = useQuery(installationsQuery());
  const repositories = useInfiniteQuery({
    ...repositoriesQuery({ ...(query && { query }), ...(installationId && { installationId }) }),
    placeholderData: keepPreviousData,
  });
  const create = () => setOver('new');
  useKeys(mayCreate ? [{ keys: 'n', does: 'New repository', run: create }] : []);
  const narrow = (next: { query?: string; installationId?: string }) =>
    void navigate({ search: next, replace: true, resetScroll: false });
  const named = installations.data?.items ?? [];
  useRead(installations.data?.items);
  const isNarrowed = query !== '' || installationId !== undefined;
  return (
    <Page
      title="Repositories"
      actions={
        <>
          {isAdmin && <Button onPress={() => setOver('connect')}>Connect GitHub</Button>}
          {mayCreate && (
            <Button kind="primary" onPress={create}>
              New repository
            </Button>
          )}
        </>
      }
    >
      <Section title="Installations">
        <Shown query={installations} skeleton={<Skeleton lines={2} />}>
          {({ items }) => <InstallationList installations={items} />}
        </Shown>
      </Section>
      <Section title="Repositories">
        <div className="flex flex-wrap items-center gap-2 px-4 pb-3">
          <Find
            label="Find repositories by name"
            placeholder="Find by name"
            value={query}
            onChange={(next) =>
              narrow({ ...(next && { query: next }), ...(installationId && { installationId }) })
            }
          />
          {named.length > 1 && (
            <Select
              label="Installation"
              quiet
              choices={[
                { id: ALL, text: 'All installations' },
                ...named.map(({ id, name, provider }) => ({
                  id,
                  text: provider === 'local' ? 'Hosted by this service' : name,
                })),
              ]}
              value={installationId ?? ALL}
              onChange={(id) =>
                narrow({ ...(query && { query }), ...(id !== ALL && { installationId: id }) })
              }
            />
          )}
        </div>
        <Shown query={repositories}>
          {(data) => {
            const items = itemsOf(data);
            if (items.length > 0) return <RepositoryList repositories={items} />;
            const isReading = named.some((one) => isFirstRead(one) && (installationId ?? one.id) === one.id);
            return isReading && !query ? (
              <Empty title="The repositories are being read">
                <p>They are listed here as soon as the host has answered.</p>
              </Empty>
            ) : isNarrowed ? (
              <Empty title="No repository is like this">
                {query && (
                  <p className="long">
                    Nothing that is searched contains “<Plain text={query} />
                    ”.
                  </p>
                )}
                <Link to="/organization/repositories" className="link">
                  Show all repositories
                </Link>
              </Empty>
            ) : (
              <FirstRun onCreate={create} />
            );
          }}
        </Shown>
        <ShowMore list={repositories} />
      </Section>
      <Connect isOpen={over === 'connect'} onClose={() => setOver(null)} />
      <NewRepository isOpen={over === 'new'} onClose={() => setOver(null)} />
    </Page>
  );
}

/** Reads the list again when the repositories of an installation have been read. */
function useRead(installations: readonly Installation[] | undefined): void {
  const queries = useQueryClient();
  const seen = useRef<string | null>(null);
  const read = installations ? installations.map(({ id, syncedAt }) => `${id} ${syncedAt}`).join() : null;
  useEffect(() => {
    if (seen.current !== null && seen.current !== read)
      void queries.invalidateQueries({ queryKey: REPOSITORIES });
    seen.current = read;
  }, [queries, read]);
}

function FirstRun({ onCreate }: { onCreate: () => void }) {
  const mayCreate = useMay('repo:update');
  const isAdmin = useIsAdmin();
  return (
    <Empty title="No repositories yet">
      <p>
        A project that is bound to a repository starts its threads from a branch, and brings what comes of
        them back as a pull request.
      </p>
      <p>
        Make one that this service hosts and push to it
        {isAdmin ? ', or connect GitHub and use those there' : ''}.
      </p>
      {mayCreate ? (
        <Button onPress={onCreate}>Create the first repository</Button>
      ) : (
        <p>Your role may not create repositories. Ask an owner or admin for one.</p>
      )}
    </Empty>
  );
}
