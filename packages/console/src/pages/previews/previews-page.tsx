import type { Preview } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { previewsOfQuery } from '../../api/projects-queries.ts';
import { Plain, plainOutput } from '../../code/index.ts';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { Narrow } from '../builds/narrow.tsx';
import { useThreadTitles } from '../builds/threads-of.tsx';
import { WorkList } from '../builds/work-list.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { isOpen } from './stop-button.tsx';

const route = getRouteApi('/signed-in/apps/$appId/previews');
const STATUSES = ['starting', 'ready', 'failed', 'stopped'] as const;

export function PreviewsPage() {
  const { appId } = route.useParams();
  const wanted = route.useSearch();
  const { status, ...narrowed } = wanted;
  const navigate = route.useNavigate();
  const previews = useInfiniteQuery(previewsOfQuery(appId, wanted));
  const titleOf = useThreadTitles(appId);
  const [isStarting, setStarting] = useState(false);
  return (
    <WorkList
      what="preview"
      action="Start a preview"
      onAction={() => setStarting(true)}
      query={previews}
      isNarrowed={Object.keys(narrowed).length > 0}
      filter={{
        statuses: STATUSES,
        value: status,
        onChange: (next) =>
          void navigate({ search: { ...narrowed, ...(next && { status: next }) }, replace: true }),
      }}
      renderRow={(preview) => (
        <Row key={preview.id} preview={preview} thread={titleOf(preview.threadId) ?? 'a thread'} />
      )}
      about="A preview runs the files of a thread, or of the head, as a server and shows it here."
    >
      <Narrow
        appId={appId}
        value={narrowed}
        onChange={(next) => void navigate({ search: { ...next, ...(status && { status }) }, replace: true })}
      />
      <PreviewDialog
        appId={appId}
        isOpen={isStarting}
        onClose={() => setStarting(false)}
        onStarted={({ id }) =>
          void navigate({ to: '/apps/$appId/previews/$previewId', params: { appId, previewId: id } })
        }
      />
    </WorkList>
  );
}

function Row({ preview, thread }: { preview: Preview; thread: string }) {
  const { id: previewId, projectId: appId, status, command, error, createdAt, expiresAt } = preview;
  return (
    <Link
      data-row
      to="/apps/$appId/previews/$previewId"
      params={{ appId, previewId }}
      className="row flex-wrap gap-y-0 px-4"
    >
      <span className="w-24 shrink-0">
        <Status status={status} />
      </span>
      <span className="min-w-0 flex-[1_1_200px]">
        <span className="block truncate">
          <Plain text={thread} />
        </span>
        <span className="block truncate text-12 text-ink-3">
          {error ? (
            <Plain text={plainOutput(error.message)} />
          ) : (
            <span className="font-mono">
              <Plain text={command.replace(/\s+/g, ' ')} />
            </span>
          )}
        </span>
      </span>
      <span className="flex basis-full items-center gap-4 pl-27 text-ink-3 sm:basis-auto sm:pl-0">
        {isOpen(preview) && expiresAt && (
          <span>
            ends <Time at={expiresAt} />
          </span>
        )}
        <span className="sm:w-24 sm:text-right">
          <Time at={createdAt} />
        </span>
      </span>
    </Link>
  );
}
