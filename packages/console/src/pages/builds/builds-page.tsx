import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAppWord } from '../../api/app-word.ts';
import { buildsOfQuery } from '../../api/projects-queries.ts';
import { BuildDialog } from './build-dialog.tsx';
import { BuildRow } from './build-row.tsx';
import { Narrow } from './narrow.tsx';
import { useThreadTitles } from './threads-of.tsx';
import { WorkList } from './work-list.tsx';

const route = getRouteApi('/signed-in/apps/$appId/builds');
const STATUSES = ['queued', 'building', 'ready', 'failed'] as const;

export function BuildsPage() {
  const { appId } = route.useParams();
  const wanted = route.useSearch();
  const { status, ...narrowed } = wanted;
  const navigate = route.useNavigate();
  const builds = useInfiniteQuery(buildsOfQuery(appId, wanted));
  const word = useAppWord();
  const titleOf = useThreadTitles(appId);
  const [isAsking, setAsking] = useState(false);
  return (
    <WorkList
      what="build"
      action="New build"
      onAction={() => setAsking(true)}
      query={builds}
      isNarrowed={Object.keys(narrowed).length > 0}
      filter={{
        statuses: STATUSES,
        value: status,
        onChange: (next) =>
          void navigate({ search: { ...narrowed, ...(next && { status: next }) }, replace: true }),
      }}
      renderRow={(build) => (
        <BuildRow key={build.id} build={build} thread={titleOf(build.threadId) ?? 'a thread'} />
      )}
      about={`A build runs a command on a source of a thread or the ${word}, and keeps the files that it makes.`}
    >
      <Narrow
        appId={appId}
        value={narrowed}
        onChange={(next) => void navigate({ search: { ...next, ...(status && { status }) }, replace: true })}
      />
      <BuildDialog appId={appId} isOpen={isAsking} onClose={() => setAsking(false)} />
    </WorkList>
  );
}
