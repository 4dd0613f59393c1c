/** The home of an app: its race. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useOffReason } from '../../api/write.ts';
import { appQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Shown, Skeleton } from '../../ui/states.tsx';
import type { Project } from '@headrace/client';
import { HeadFacts } from './facts.tsx';
import { StatusFilter, ViewTools } from './filters.tsx';
import { Forks } from './forks.tsx';
import { useHeadNames } from './head-names.ts';
import { Ledger } from './ledger.tsx';
import { NewThread } from './new-thread.tsx';
import { RaceTable } from './table.tsx';
import { useRace } from './use-race.ts';

const route = getRouteApi('/signed-in/apps/$appId/');
const FirstImport = lazy(() =>
  import('../apps/import/first-import.tsx').then((module) => ({ default: module.FirstImport })),
);

export function RacePage() {
  const { appId } = route.useParams();
  const app = useQuery(appQuery(appId));
  return (
    <Shown query={app} skeleton={<Page title="Race">{<Skeleton lines={8} />}</Page>}>
      {(data) =>
        data.headSourceId === null && data.kind === 'platform' ? (
          <Page title="Race">
            <Import app={data} />
          </Page>
        ) : (
          <RaceOfApp key={appId} app={data} />
        )
      }
    </Shown>
  );
}

const Import = ({ app }: { app: Project }) => (
  <Suspense fallback={<Skeleton />}>
    <FirstImport app={app} />
  </Suspense>
);

function RaceOfApp({ app }: { app: Project }) {
  const appId = app.id;
  const { show, status, query, thread } = route.useSearch();
  const race = useRace(appId, { status, query });
  const [isCreating, setCreating] = useState(false);
  const mayCreate = useMay('thread:create');
  const offBecause = useOffReason();
  const create = () => mayCreate && setCreating(true);
  useKeys([{ keys: 'n', does: 'New thread', run: create }]);
  const isFiltered = status !== undefined || Boolean(query);
  const nameOf = useHeadNames(appId);
  const view = { appId, race, nameOf, isFiltered, selected: thread ?? null };
  // Threads of a project need none: they begin at a branch, or with nothing.
  const hasHead = app.headSourceId !== null;
  const takesImport = !hasHead && app.repositoryId === null;
  return (
    <Page
      title="Race"
      actions={
        mayCreate && (
          <Button kind="primary" onPress={create} offBecause={offBecause}>
            New thread
          </Button>
        )
      }
    >
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 pb-2">
        {!takesImport && <HeadFacts appId={appId} queued={race.queued} />}
        <ViewTools />
      </div>
      <StatusFilter counts={race.counts} hasMore={race.hasMoreThreads} />
      {race.failed && <Failure error={race.failed.error} retry={() => void race.failed?.refetch()} />}
      {takesImport && <Import app={app} />}
      {race.isLoading ? (
        <Skeleton lines={8} />
      ) : show === 'forks' ? (
        !race.failed && <Forks appId={appId} race={race} filter={{ status, query }} />
      ) : show === 'table' ? (
        <RaceTable {...view} />
      ) : (
        <Ledger {...view} />
      )}
      {show !== 'forks' && race.isReadingOn && <Skeleton lines={1} />}
      {show !== 'forks' && race.readOn && (
        <p className="px-4 py-2">
          <Button onPress={race.readOn}>Read older ones</Button>
        </p>
      )}
      {show !== 'forks' &&
        !race.isLoading &&
        !race.failed &&
        race.strands.length === 0 &&
        !(isFiltered && race.hasMore) && (
          <Nothing
            app={app}
            isFiltered={isFiltered}
            hasAny={race.counts.size > 0}
            onCreate={mayCreate ? create : null}
          />
        )}
      <NewThread app={app} isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Nothing({
  app,
  isFiltered,
  hasAny,
  onCreate,
}: {
  app: Project;
  isFiltered: boolean;
  hasAny: boolean;
  onCreate: (() => void) | null;
}) {
  if (isFiltered)
    return <Empty title="No thread is like that">Another status or other words may find it.</Empty>;
  if (hasAny) return <Empty title="Nothing is under way">All threads are archived.</Empty>;
  return (
    <Empty title="No threads yet">
      <Begin app={app} />
      {onCreate && <Button onPress={onCreate}>Start the first thread</Button>}
    </Empty>
  );
}

/** Where a thread begins, and what becomes of its work. */
function Begin({ app: { repositoryId, defaultBranch, headSourceId } }: { app: Project }) {
  if (repositoryId !== null)
    return (
      <p>
        A thread is where an agent works on a copy of the repository. Threads start from the branch{' '}
        <span className="font-mono text-mono">
          <Plain text={defaultBranch ?? ''} />
        </span>
        , or another one that you name, and their work becomes a pull request.
      </p>
    );
  return (
    <p>
      {headSourceId === null
        ? 'A thread is where an agent works. Without files it begins with nothing, and what it makes can become the first version.'
        : 'A thread is where an agent works on a copy of the head. It leaves the line above, and joins it again when its change is applied.'}
    </p>
  );
}
