/** Rename, fork, spend limit, export, workspace, archive, delete. */
import type { Thread, UpdateThreadInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { client } from '../../api/client.ts';
import { threadQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { notify } from '../../ui/notices.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { callOf, pathOf, useThread } from './context.ts';
import { useFaultNotice } from './run-actions.tsx';
import { Sample } from './sample.tsx';

const Rename = lazy(async () => ({ default: (await import('./thread-dialogs.tsx')).Rename }));
const Fork = lazy(async () => ({ default: (await import('./fork-dialog.tsx')).ForkDialog }));
const Export = lazy(async () => ({ default: (await import('./export.tsx')).Export }));
const Workspace = lazy(async () => ({ default: (await import('./workspace.tsx')).Workspace }));
const Limit = lazy(async () => ({ default: (await import('./thread-dialogs.tsx')).Limit }));

type Over = 'rename' | 'fork' | 'limit' | 'export' | 'workspace' | 'archive' | 'delete' | null;

export function ThreadMenu({
  isReadOut,
  onReadOut,
}: {
  isReadOut: boolean;
  onReadOut: (on: boolean) => void;
}) {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const [over, setOver] = useState<Over>(null);
  const close = () => setOver(null);
  const offline = useOffReason();
  const mayChange = useMay('thread:update');
  const mayFork = useMay('thread:create');
  const mayDelete = useMay('thread:delete');
  const navigate = useNavigate();
  const update = useUpdate(close);
  const remove = useWrite({
    intent: `delete ${threadId}`,
    call: (_: null, options) => client.threads.delete(appId, threadId, options),
    onDone: () => {
      notify('The thread is deleted. Its sources stay.');
      void navigate({ to: '/apps/$appId', params: { appId } });
    },
  });
  useFaultNotice(remove.fault);
  useFaultNotice(over === null ? update.fault : null);
  const isArchived = thread.archivedAt !== null;
  const say = (what: Over, allowed: boolean) => () => {
    if (!allowed) notify('Your role may not do this.', 'fail');
    else if (offline) notify(offline, 'fail');
    else {
      update.reset();
      setOver(what);
    }
  };
  const unarchive = () => {
    const refused = mayChange ? offline : 'Your role may not do this.';
    if (refused) notify(refused, 'fail');
    else update.send({ archived: false });
  };
  return (
    <>
      <Menu
        label="More about this thread"
        icon={<Ellipsis size={14} />}
        kind="quiet"
        items={[
          { id: 'rename', text: 'Rename', onAction: say('rename', mayChange) },
          { id: 'fork', text: 'Fork', onAction: say('fork', mayFork) },
          { id: 'limit', text: 'Spend limit', onAction: say('limit', mayChange) },
          { id: 'export', text: 'Export', onAction: () => setOver('export') },
          { id: 'workspace', text: 'Workspace', onAction: () => setOver('workspace') },
          {
            id: 'read',
            text: isReadOut ? 'Do not read replies out' : 'Read replies out',
            onAction: () => onReadOut(!isReadOut),
          },
          isArchived
            ? { id: 'archive', text: 'Take out of the archive', onAction: unarchive }
            : { id: 'archive', text: 'Archive', onAction: say('archive', mayChange) },
          { id: 'delete', text: 'Delete', isDanger: true, onAction: say('delete', mayDelete) },
        ]}
      />
      <Suspense>
        {over === 'rename' && <Rename update={update} onClose={close} />}
        {over === 'fork' && <Fork checkpointId={null} onClose={close} />}
        {over === 'limit' && <Limit update={update} onClose={close} />}
        {over === 'export' && <Export onClose={close} />}
        {over === 'workspace' && <Workspace onClose={close} />}
      </Suspense>
      <Confirm
        title="Archive the thread"
        verb="Archive"
        isOpen={over === 'archive'}
        onClose={close}
        onConfirm={() => update.send({ archived: true })}
      >
        <p>
          Its runs, its queued apply and its build end, and its workspace is saved and ended. Nothing is lost:
          it can be taken out of the archive.
        </p>
        <Sample body={{ archived: true }} cli={`headrace thread archive ${threadId}`} />
      </Confirm>
      <Confirm
        title="Delete the thread"
        verb="Delete"
        isOpen={over === 'delete'}
        onClose={close}
        onConfirm={() => remove.send(null)}
      >
        <p>
          Its messages, runs and approvals are deleted for good, and what runs is ended. Its sources stay.
        </p>
        <AsCode
          method="DELETE"
          path={pathOf(place)}
          ts={callOf('threads.delete', place)}
          cli={`headrace thread rm ${threadId}`}
        />
      </Confirm>
    </>
  );
}

function useUpdate(onDone: () => void): Write<UpdateThreadInput, Thread> {
  const { appId, threadId, thread } = useThread();
  const queries = useQueryClient();
  return useWrite({
    intent: `update ${threadId} ${thread.version}`,
    call: (body: UpdateThreadInput, options) => client.threads.update(appId, threadId, body, options),
    onDone: (changed) => {
      queries.setQueryData(threadQuery(appId, threadId).queryKey, changed);
      onDone();
    },
  });
}
