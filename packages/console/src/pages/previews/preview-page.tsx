import type { Preview } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { previewQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Fact, Facts, Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time } from '../../ui/values.tsx';
import { NO_THREAD } from '../builds/command.ts';
import { WithLayer } from '../builds/layer.tsx';
import { SourceLink } from '../builds/source-link.tsx';
import { ThreadLink, useThreadTitles } from '../builds/threads-of.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { PreviewState } from './preview-state.tsx';
import { StopButton, isOpen } from './stop-button.tsx';

const route = getRouteApi('/signed-in/apps/$appId/previews/$previewId');

export function PreviewPage() {
  const { appId, previewId } = route.useParams();
  const navigate = route.useNavigate();
  const preview = useQuery(previewQuery(appId, previewId));
  const titleOf = useThreadTitles(appId);
  const off = useOffReason();
  const may = useMay('thread:update');
  const [isStarting, setStarting] = useState(false);
  const { data } = preview;
  const title = (data && titleOf(data.threadId)) ?? 'a thread';
  const start = may && (
    <Button kind="primary" offBecause={off} onPress={() => setStarting(true)}>
      Start again
    </Button>
  );
  return (
    <Page
      title={`Preview …${previewId.slice(-6)}`}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          Preview <Id value={previewId} />
          <span className="text-13 font-normal">{data && <Status status={data.status} />}</span>
        </span>
      }
      actions={data && may && isOpen(data) && <StopButton preview={data} />}
    >
      <Shown query={preview}>
        {(shown) => (
          <>
            <About preview={shown} />
            <PreviewState preview={shown} title={`Preview of ${title}`}>
              {start}
            </PreviewState>
            <PreviewDialog
              appId={appId}
              threadId={shown.threadId ?? NO_THREAD}
              from={shown}
              isOpen={isStarting}
              onClose={() => setStarting(false)}
              onStarted={({ id }) =>
                void navigate({
                  to: '/apps/$appId/previews/$previewId',
                  params: { appId, previewId: id },
                })
              }
            />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** What it shows now, and later. */
const FOLLOWS: Record<string, string> = {
  thread: 'the thread’s latest, and newer ones as they come',
  head: 'the head, and newer ones as it moves',
  none: 'this one alone',
};

function About({ preview }: { preview: Preview }) {
  const {
    projectId: appId,
    threadId,
    sourceId,
    follow,
    setup,
    command,
    port,
    createdAt,
    expiresAt,
    url,
  } = preview;
  return (
    <Facts>
      <Fact name="Command">
        <code className="long line-clamp-3 font-mono text-mono whitespace-pre-wrap" title={command}>
          <Plain text={command} />
        </code>
        <CopyButton text={command} label="Copy the command" />
      </Fact>
      {threadId !== null && (
        <Fact name="Thread">
          <ThreadLink appId={appId} threadId={threadId} />
        </Fact>
      )}
      {sourceId !== null && (
        <Fact name="Source">
          <span>
            <SourceLink appId={appId} sourceId={sourceId} />
            <span className="text-ink-3"> {FOLLOWS[follow ?? 'none'] ?? follow}</span>
          </span>
        </Fact>
      )}
      <Fact name="Setup">{setup ? <WithLayer appId={appId} /> : 'without its layer'}</Fact>
      <Fact name="Port">{port}</Fact>
      <Fact name="Started">
        <Time at={createdAt} />
      </Fact>
      {isOpen(preview) && expiresAt && (
        <Fact name="Ends">
          <Time at={expiresAt} />
        </Fact>
      )}
      {isOpen(preview) && (
        <Fact name="Address">
          <span className="long font-mono text-mono">
            <Plain text={url} />
          </span>
          <CopyButton text={url} label="Copy the address" />
          <span className="hidden text-ink-3 md:inline">Anyone who knows it sees the preview.</span>
        </Fact>
      )}
    </Facts>
  );
}
