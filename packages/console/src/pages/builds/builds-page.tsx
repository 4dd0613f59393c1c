import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { allBuildsQuery } from '../../api/queries.ts';
import { BuildDialog } from './build-dialog.tsx';
import { BuildRow } from './build-row.tsx';
import { useThreadTitles } from './threads-of.tsx';
import { WorkList } from './work-list.tsx';

const route = getRouteApi('/signed-in/apps/$appId/builds');
const STATUSES = ['queued', 'building', 'ready', 'failed'] as const;

export function BuildsPage() {
  const { appId } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const builds = useInfiniteQuery(allBuildsQuery({ appId, ...(status && { status }) }));
  const titleOf = useThreadTitles(appId);
  const [isAsking, setAsking] = useState(false);
  return (
    <WorkList
      what="build"
      action="New build"
      onAction={() => setAsking(true)}
      query={builds}
      filter={{
        statuses: STATUSES,
        value: status,
        onChange: (next) => void navigate({ search: next ? { status: next } : {}, replace: true }),
      }}
      renderRow={(build) => (
        <BuildRow key={build.id} build={build} thread={titleOf(build.threadId) ?? 'a thread'} />
      )}
      about="A build runs a command on a source of a thread or the app, and keeps the files that it makes."
    >
      <BuildDialog appId={appId} isOpen={isAsking} onClose={() => setAsking(false)} />
    </WorkList>
  );
}
