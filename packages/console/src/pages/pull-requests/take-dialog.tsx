/** Ends a divergence: whose files count. */
import type { SyncPullRequestInput } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { RefusalLine } from './refusal-line.tsx';

type Side = NonNullable<SyncPullRequestInput['take']>;

const SIDES = [
  { id: 'branch', text: 'The branch’s' },
  { id: 'thread', text: 'The thread’s' },
];

const MEANS: Record<Side, string> = {
  branch:
    'The files of the branch become the thread’s. What the thread has now stays a checkpoint, which Runs can restore.',
  thread:
    'The thread’s files become a commit on top of the branch. The commits of others stay in its history, but their changes to files are undone. Nothing is force-pushed.',
};

export function TakeDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { appId, threadId, pull } = usePull();
  const [take, setTake] = useState<Side>('branch');
  const off = usePullOff();
  const sync = usePullWrite(
    'take',
    (ids, body: SyncPullRequestInput, options) => client.pullRequests.sync(...ids, body, options),
    () => {
      notify('Taken. The push goes on.');
      onClose();
    },
  );
  return (
    <Dialog title="Whose files count" isOpen={isOpen} onClose={onClose}>
      <Choices
        label="Files"
        choices={SIDES}
        value={take}
        onChange={(side) => setTake(side as Side)}
        hint={MEANS[take]}
      />
      <p className="text-ink-2">
        Nothing is lost either way. To merge by hand instead, push a merge commit to{' '}
        <span className="font-mono text-mono">{pull.headRef}</span>. The thread has to be idle.
      </p>
      <RefusalLine fault={sync.fault} appId={appId} threadId={threadId} />
      <div className="flex items-center justify-end gap-2">
        <PullAsCode rest="/sync" name="sync" body={{ take }} cli={`sync ${pull.number} --take ${take}`} />
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="primary"
          offBecause={off}
          isPending={sync.isSending}
          onPress={() => sync.send({ take })}
        >
          {take === 'branch' ? 'Take the branch’s files' : 'Take the thread’s files'}
        </Button>
      </div>
    </Dialog>
  );
}
