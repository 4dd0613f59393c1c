import type { Preview } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { allPreviewsQuery, itemsOf } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Plain, plainOutput } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { StatusFilter } from '../builds/status-filter.tsx';
import { useThreadTitles } from '../builds/threads-of.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { isOpen } from './stop-button.tsx';

const route = getRouteApi('/signed-in/apps/$appId/previews');
const STATUSES = ['starting', 'ready', 'failed', 'stopped'] as const;

export function PreviewsPage() {
  const { appId } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const previews = useInfiniteQuery(allPreviewsQuery({ appId, ...(status && { status }) }));
  const titleOf = useThreadTitles(appId);
  const off = useOffReason();
  const may = useMay('thread:update');
  const [isStarting, setStarting] = useState(false);
  useKeys(may ? [{ keys: 'n', does: 'Start a preview', run: () => setStarting(true) }] : []);
  const items = itemsOf(previews.data);
  return (
    <Page
      title="Previews"
      actions={
        may && (
          <Button kind="primary" offBecause={off} onPress={() => setStarting(true)}>
            Start a preview
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
      <Shown query={previews}>
        {() => (
          <>
            {items.map((preview) => (
              <Row key={preview.id} preview={preview} thread={titleOf(preview.threadId) ?? 'a thread'} />
            ))}
            {items.length === 0 && (
              <Empty title={status ? `No preview is ${status}` : 'No previews yet'}>
                {status ? (
                  <p>Previews with another status are not shown.</p>
                ) : (
                  <p>A preview runs a thread’s app as a server and shows it here.</p>
                )}
              </Empty>
            )}
          </>
        )}
      </Shown>
      {previews.hasNextPage && (
        <div className="px-4 py-2">
          <Button isPending={previews.isFetchingNextPage} onPress={() => void previews.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      <PreviewDialog
        appId={appId}
        isOpen={isStarting}
        onClose={() => setStarting(false)}
        onStarted={({ id }) =>
          void navigate({ to: '/apps/$appId/previews/$previewId', params: { appId, previewId: id } })
        }
      />
    </Page>
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
            <Plain text={command.replace(/\s+/g, ' ')} />
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
