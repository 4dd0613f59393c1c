/** The files of a source, put into a thread: with an apply, an older version comes back. */
import type { Thread } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { appQuery, threadQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { ThreadSelect, useNewestThread } from '../builds/threads-of.tsx';

interface Of {
  appId: string;
  sourceId: string;
}

/** A run restores: a final thread takes none. */
const takesRuns = ({ sealedAt }: Thread) => sealedAt === null;

/** Shown to who may change threads. */
export function BringBack(of: Of) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (!useMay('thread:update')) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>Put into a thread</Button>
      <Dialog title="Put these files into a thread" isOpen={isOpen} onClose={close}>
        <Ask {...of} onClose={close} />
      </Dialog>
    </>
  );
}

function Ask({ appId, sourceId, onClose }: Of & { onClose: () => void }) {
  const navigate = useNavigate();
  const off = useOffReason();
  const newest = useNewestThread(appId, true, takesRuns);
  const { data: app } = useQuery(appQuery(appId));
  const [chosen, setChosen] = useState<string | null>(null);
  const threadId = chosen ?? newest.id;
  const thread = useQuery({ ...threadQuery(appId, threadId ?? ''), enabled: threadId !== null });
  const hasIt = thread.data?.latestSourceId === sourceId;
  const write = useWrite({
    intent: `restore ${sourceId} in ${threadId}`,
    call: (into: string, options) => client.checkpoints.restoreSource(appId, into, { sourceId }, options),
    onDone: (_, into) => {
      onClose();
      notify('A run restores these files.');
      void navigate({ to: '/apps/$appId/threads/$threadId', params: { appId, threadId: into } });
    },
  });
  const offBecause =
    off ??
    (threadId === null ? 'Choose a thread.' : null) ??
    (hasIt ? 'The thread has these files already.' : null);
  return (
    <>
      <p className="text-ink-2">
        The thread gets a new source with these files. Its messages stay, and what it has now stays a source
        that can be brought back in the same way.{' '}
        {app?.repositoryId
          ? 'A pull request of the thread brings them into the repository.'
          : 'Apply it to make them the head.'}
      </p>
      <ThreadSelect
        appId={appId}
        value={threadId}
        onChange={setChosen}
        isOptional={false}
        isOffered={takesRuns}
      />
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        {threadId !== null && (
          <AsCode
            method="POST"
            path={`/api/threads/${threadId}/restore`}
            body={{ sourceId }}
            ts={`await client.thread('${threadId}').checkpoints.restoreSource({ sourceId: '${sourceId}' });`}
            cli={`headrace thread restore ${threadId} ${sourceId}`}
          />
        )}
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="primary"
          isPending={write.isSending}
          offBecause={offBecause}
          onPress={() => write.send(threadId!)}
        >
          Restore the files
        </Button>
      </div>
    </>
  );
}
