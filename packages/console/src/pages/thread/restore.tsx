/** Back to the files of a checkpoint. */
import type { Checkpoint } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/notices.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Time } from '../../ui/values.tsx';
import { callOf, pathOf, useThread } from './context.ts';
import { useFaultNotice } from './run-actions.tsx';

export function Restore({ checkpoint }: { checkpoint: Checkpoint }) {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const [isOpen, setOpen] = useState(false);
  const offBecause = useOffReason();
  const mayChange = useMay('thread:update');
  const restore = useWrite({
    intent: `restore ${checkpoint.id}`,
    call: (_: null, options) => client.checkpoints.restore(appId, threadId, checkpoint.id, {}, options),
    onDone: () => notify('A run restores these files.'),
  });
  useFaultNotice(restore.fault);
  if (checkpoint.sourceId === thread.latestSourceId) return <span>current files</span>;
  return (
    <span className="inline-flex items-center">
      <Button
        kind="quiet"
        onPress={() => setOpen(true)}
        isDisabled={restore.isSending}
        offBecause={mayChange ? offBecause : 'Your role may not change threads.'}
      >
        Restore
      </Button>
      <AsCode
        method="POST"
        path={pathOf(place, `/checkpoints/${checkpoint.id}/restore`)}
        body={{}}
        ts={callOf('checkpoints.restore', place, checkpoint.id)}
        cli={`headrace thread restore ${threadId} ${checkpoint.id}`}
      />
      <Confirm
        title="Restore these files"
        verb="Restore"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => restore.send(null)}
      >
        <p>
          The thread gets a new source with the files as they were <Time at={checkpoint.createdAt} />. The
          messages stay, and no source is lost: what is there now can be restored in the same way. A run that
          works now goes first.
        </p>
      </Confirm>
    </span>
  );
}
