import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { allBuildsQuery, itemsOf } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { BuildDialog } from './build-dialog.tsx';
import { BuildRow } from './build-row.tsx';
import { StatusFilter } from './status-filter.tsx';
import { useThreadTitles } from './threads-of.tsx';

const route = getRouteApi('/signed-in/apps/$appId/builds');
const STATUSES = ['queued', 'building', 'ready', 'failed'] as const;

export function BuildsPage() {
  const { appId } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const builds = useInfiniteQuery(allBuildsQuery({ appId, ...(status && { status }) }));
  const titleOf = useThreadTitles(appId);
  const off = useOffReason();
  const may = useMay('thread:update');
  const [isAsking, setAsking] = useState(false);
  useKeys(may ? [{ keys: 'n', does: 'New build', run: () => setAsking(true) }] : []);
  const items = itemsOf(builds.data);
  return (
    <Page
      title="Builds"
      actions={
        may && (
          <Button kind="primary" offBecause={off} onPress={() => setAsking(true)}>
            New build
          </Button>
        )
      }
    >
      <StatusFilter
        label="Status"
        statuses={STATUSES}
        value={status}
        onChange={(next) => void navigate({ search: next ? { status: next } : {}, replace: true })}
      />
      <Shown query={builds}>
        {() => (
          <>
            {items.map((build) => (
              <BuildRow key={build.id} build={build} thread={titleOf(build.threadId) ?? 'a thread'} />
            ))}
            {items.length === 0 && (
              <Empty title={status ? `No build is ${status}` : 'No builds yet'}>
                {status ? (
                  <p>Builds with another status are not shown.</p>
                ) : (
                  <p>A build runs a command on a thread’s source and keeps the files that it makes.</p>
                )}
              </Empty>
            )}
          </>
        )}
      </Shown>
      {builds.hasNextPage && (
        <div className="px-4 py-2">
          <Button isPending={builds.isFetchingNextPage} onPress={() => void builds.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      <BuildDialog appId={appId} isOpen={isAsking} onClose={() => setAsking(false)} />
    </Page>
  );
}
