/** The home of an app: its race. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useOffReason } from '../../api/write.ts';
import { appQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Shown, Skeleton } from '../../ui/states.tsx';
import { HeadFacts } from './facts.tsx';
import { StatusFilter, ViewTools } from './filters.tsx';
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
        data.headSourceId === null ? (
          <Page title="Race">
            <Suspense fallback={<Skeleton />}>
              <FirstImport app={data} />
            </Suspense>
          </Page>
        ) : (
          <RaceOfApp key={appId} appId={appId} />
        )
      }
    </Shown>
  );
}

function RaceOfApp({ appId }: { appId: string }) {
  const { show, status, query, thread } = route.useSearch();
  const race = useRace(appId, { status, query });
  const [isCreating, setCreating] = useState(false);
  const mayCreate = useMay('thread:create');
  const offBecause = useOffReason();
  const create = () => mayCreate && setCreating(true);
  useKeys([{ keys: 'n', does: 'New thread', run: create }]);
  const isFiltered = status !== undefined || Boolean(query);
  const view = { appId, race, isFiltered, selected: thread ?? null };
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
        <HeadFacts appId={appId} queued={race.queued} />
        <ViewTools />
      </div>
      <StatusFilter counts={race.counts} hasMore={race.hasMoreThreads} />
      {race.failed && <Failure error={race.failed.error} retry={() => void race.failed?.refetch()} />}
      {race.isLoading ? (
        <Skeleton lines={8} />
      ) : show === 'table' ? (
        <RaceTable {...view} />
      ) : (
        <Ledger {...view} />
      )}
      {race.isReadingOn && <Skeleton lines={1} />}
      {race.readOn && (
        <p className="px-4 py-2">
          <Button onPress={race.readOn}>Read older ones</Button>
        </p>
      )}
      {!race.isLoading && !race.failed && race.strands.length === 0 && !(isFiltered && race.hasMore) && (
        <Nothing isFiltered={isFiltered} hasAny={race.counts.size > 0} onCreate={mayCreate ? create : null} />
      )}
      <NewThread appId={appId} isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Nothing({
  isFiltered,
  hasAny,
  onCreate,
}: {
  isFiltered: boolean;
  hasAny: boolean;
  onCreate: (() => void) | null;
}) {
  if (isFiltered)
    return <Empty title="No thread is like that">Another status or other words may find it.</Empty>;
  if (hasAny) return <Empty title="Nothing is under way">All threads of this app are archived.</Empty>;
  return (
    <Empty title="No threads yet">
      <p>
        A thread is where an agent works on a copy of the head. It leaves the line above, and joins it again
        when its change is applied.
      </p>
      {onCreate && <Button onPress={onCreate}>Start the first thread</Button>}
    </Empty>
  );
}
