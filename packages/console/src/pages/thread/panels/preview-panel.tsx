/** The latest preview of a thread. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { previewsQuery } from '../../../api/queries.ts';
import { itemsOf } from '../../../api/query.ts';
import { useMay } from '../../../api/session.ts';
import { useOffReason } from '../../../api/write.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, Shown } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/values.tsx';
import { PreviewDialog } from '../../previews/preview-dialog.tsx';
import { PreviewState } from '../../previews/preview-state.tsx';
import { StopButton, isOpen } from '../../previews/stop-button.tsx';

export function PreviewPanel({ appId, threadId }: { appId: string; threadId: string }) {
  const previews = useInfiniteQuery(previewsQuery(appId, threadId));
  const off = useOffReason();
  const may = useMay('thread:update');
  const [isStarting, setStarting] = useState(false);
  const latest = itemsOf(previews.data)[0];
  const start = may && (
    <Button kind="primary" offBecause={off} onPress={() => setStarting(true)}>
      Start a preview
    </Button>
  );
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <Shown query={previews}>
        {() =>
          latest ? (
            <>
              <div className="flex flex-wrap items-center gap-3 px-4 py-2">
                <Status status={latest.status} />
                <Link
                  to="/apps/$appId/previews/$previewId"
                  params={{ appId, previewId: latest.id }}
                  className="link"
                >
                  Details
                </Link>
                {isOpen(latest) && latest.expiresAt && (
                  <span className="text-ink-3">
                    ends <Time at={latest.expiresAt} />
                  </span>
                )}
                <span className="ml-auto flex items-center gap-2">
                  {may && isOpen(latest) && <StopButton preview={latest} />}
                </span>
              </div>
              <PreviewState preview={latest} title="Preview of this thread">
                {start}
              </PreviewState>
            </>
          ) : (
            <Empty title="No preview of this thread">
              <p>A preview runs the thread’s files as a server and shows it here.</p>
              {start}
            </Empty>
          )
        }
      </Shown>
      <PreviewDialog
        appId={appId}
        threadId={threadId}
        from={latest}
        isOpen={isStarting}
        onClose={() => setStarting(false)}
        // The list follows by its event; at once is better.
        onStarted={() => void previews.refetch()}
      />
    </div>
  );
}
