/** Brings the base branch into the pull request's branch. */
import type { UpdateBranchInput } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { Commit } from './marks.tsx';
import { Paths } from './push.tsx';
import { RefusalLine } from './refusal-line.tsx';
import { isTransferred } from './standing.ts';

type Way = NonNullable<UpdateBranchInput['conflictResolution']>;

const WAYS = [
  { id: 'agent', text: 'The agent resolves them' },
  { id: 'manual', text: 'Stop at them' },
];

const MEANS: Record<Way, string> = {
  agent: 'If there are conflicts, a run of the thread’s agent resolves them. It costs what a run costs.',
  manual: 'If there are conflicts, they are named here, and nothing is changed.',
};

export function UpdateBranch() {
  const { pull } = usePull();
  const [isOpen, setOpen] = useState(false);
  const off = usePullOff();
  const isRunning = pull.update?.status === 'running';
  return (
    <Section
      title="Update from the base"
      actions={
        isTransferred(pull) ? null : (
          <Button
            offBecause={
              off ??
              (isRunning
                ? 'It is being updated.'
                : pull.push.status === 'diverged'
                  ? 'Choose first whose files count.'
                  : null)
            }
            onPress={() => setOpen(true)}
          >
            Update the branch
          </Button>
        )
      }
    >
      <LastUpdate />
      {isOpen && <UpdateDialog onClose={() => setOpen(false)} />}
    </Section>
  );
}

const WORDS: Record<string, string> = {
  running: 'The base branch is being brought in',
  done: 'The base branch was brought in',
  conflicted: 'It has conflicts with the base branch',
  failed: 'The update failed',
};

const MARKS: Record<string, string> = { done: 'completed' };

function LastUpdate() {
  const { update, baseRef } = usePull().pull;
  if (!update)
    return (
      <p className="px-4 pb-3 text-ink-3">
        Brings newer commits of <span className="font-mono text-mono">{baseRef}</span> into the branch.
      </p>
    );
  const { status, baseSha, conflicts, error } = update;
  return (
    <div className="flex flex-col items-start gap-2 px-4 pb-3">
      <span className="flex flex-wrap items-center gap-x-2">
        <Status status={MARKS[status] ?? status} word={WORDS[status] ?? status} />
        {baseSha !== null && <Commit sha={baseSha} />}
      </span>
      <Paths paths={conflicts} />
      {error && (
        <p className="long text-ink-2">
          {error.code === 'not_configured' && 'No agent is configured for it. '}
          <Plain text={error.message} />
        </p>
      )}
      {status === 'conflicted' && (
        <p className="text-ink-2">
          Update again with the agent, say in a message how to resolve them, or push a merge commit.
        </p>
      )}
    </div>
  );
}

function UpdateDialog({ onClose }: { onClose: () => void }) {
  const { appId, threadId, pull } = usePull();
  const [way, setWay] = useState<Way>('agent');
  const off = usePullOff();
  const update = usePullWrite(
    'update branch',
    (ids, body: UpdateBranchInput, options) => client.pullRequests.updateBranch(...ids, body, options),
    () => {
      notify('The update has begun.');
      onClose();
    },
  );
  return (
    <Dialog title="Update the branch" isOpen onClose={onClose}>
      <p className="text-ink-2">
        The newest commit of <span className="font-mono text-mono">{pull.baseRef}</span> is merged with the
        thread’s files and pushed.
      </p>
      <Choices
        label="Conflicts"
        choices={WAYS}
        value={way}
        onChange={(chosen) => setWay(chosen as Way)}
        hint={MEANS[way]}
      />
      <RefusalLine fault={update.fault} appId={appId} threadId={threadId} />
      <div className="flex items-center justify-end gap-2">
        <PullAsCode
          rest="/update-branch"
          name="updateBranch"
          body={{ conflictResolution: way }}
          cli={`update-branch ${pull.number}${way === 'manual' ? ' --manual' : ''}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="primary"
          offBecause={off}
          isPending={update.isSending}
          onPress={() => update.send({ conflictResolution: way })}
        >
          Update
        </Button>
      </div>
    </Dialog>
  );
}
