/** Edits, closes and reopens a pull request. */
import type { ScmPullRequest, ScmUpdatePullRequestInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { pullQuery, repositoryKey } from '../../api/repositories-queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { BranchField } from '../projects/branch-field.tsx';
import { worded } from './words.ts';

function useUpdate({ repositoryId, number }: ScmPullRequest, onDone?: () => void) {
  const queries = useQueryClient();
  return useWrite({
    intent: `change pull request ${number} of ${repositoryId}`,
    call: (input: ScmUpdatePullRequestInput, options) =>
      worded(client.scm.updatePullRequest(repositoryId, number, input, options)),
    onDone: (changed) => {
      queries.setQueryData(pullQuery(repositoryId, String(number)).queryKey, changed);
      void queries.invalidateQueries({ queryKey: repositoryKey(repositoryId) });
      onDone?.();
    },
  });
}

export function PullActions({ pull }: { pull: ScmPullRequest }) {
  const [isEditing, setEditing] = useState(false);
  const [isClosing, setClosing] = useState(false);
  const may = useMay('repo:update');
  const off = useOffReason();
  // The button that was pressed is gone then: the focus goes to what takes its place.
  const [isOwn, setOwn] = useState(false);
  const write = useUpdate(pull, () => {
    setOwn(true);
    setClosing(false);
  });
  if (!may || pull.state === 'merged') return null;
  const isOpen = pull.state === 'open';
  return (
    <>
      {!isClosing && <FaultLine fault={write.fault} />}
      {isOpen && (
        <>
          <Button autoFocus={isOwn} onPress={() => setEditing(true)}>
            Edit
          </Button>
          <Sample pull={pull} body={{ draft: !pull.draft }} flags={pull.draft ? '--ready' : '--draft'} />
          <Button
            isPending={write.isSending}
            offBecause={off}
            onPress={() => write.send({ draft: !pull.draft })}
          >
            {pull.draft ? 'Mark as ready' : 'Make it a draft'}
          </Button>
          <Button kind="danger" onPress={() => setClosing(true)}>
            Close
          </Button>
        </>
      )}
      {!isOpen && (
        <>
          <Sample pull={pull} body={{ state: 'open' }} flags="--reopen" />
          <Button
            autoFocus={isOwn}
            isPending={write.isSending}
            offBecause={off}
            onPress={() => write.send({ state: 'open' })}
          >
            Reopen
          </Button>
        </>
      )}
      <Dialog title="Edit the pull request" wide isOpen={isEditing} onClose={() => setEditing(false)}>
        <EditForm pull={pull} onClose={() => setEditing(false)} />
      </Dialog>
      <Dialog title="Close the pull request" isOpen={isClosing} onClose={() => setClosing(false)}>
        <p className="text-ink-2">Nothing is merged, and its branch stays. It can be reopened.</p>
        <FaultLine fault={write.fault} />
        <div className="flex items-center justify-end gap-2">
          <Sample pull={pull} body={{ state: 'closed' }} flags="--close" />
          <Button onPress={() => setClosing(false)}>Cancel</Button>
          <Button
            kind="danger"
            isPending={write.isSending}
            offBecause={off}
            onPress={() => write.send({ state: 'closed' })}
          >
            Close it
          </Button>
        </div>
      </Dialog>
    </>
  );
}

const Sample = ({
  pull: { repositoryId, number },
  body,
  flags,
}: {
  pull: ScmPullRequest;
  body: ScmUpdatePullRequestInput;
  flags: string;
}) => (
  <AsCode
    method="PATCH"
    path={`/api/source-control/scm/repositories/${repositoryId}/pull-requests/${number}`}
    body={body}
    ts={`await client.scm.updatePullRequest('${repositoryId}', ${number}, ${JSON.stringify(body)});`}
    cli={`headrace pulls update ${repositoryId} ${number} ${flags}`}
  />
);

const SHOWN = ['/title', '/body', '/base'];

function EditForm({ pull, onClose }: { pull: ScmPullRequest; onClose: () => void }) {
  // What others change meanwhile stays as they made it.
  const [opened] = useState({ title: pull.title, body: pull.body, base: pull.baseRef });
  const [typed, setTyped] = useState(opened);
  const off = useOffReason();
  const write = useUpdate(pull, onClose);
  const set = (change: Partial<typeof typed>) => setTyped({ ...typed, ...change });
  const { title, body, base } = { ...typed, title: typed.title.trim(), base: typed.base.trim() };
  const change: ScmUpdatePullRequestInput = {
    ...(title !== opened.title && { title }),
    ...(body !== opened.body && { body }),
    ...(base !== opened.base && { base }),
  };
  const offBecause =
    off ??
    (title === ''
      ? 'Give it a title.'
      : base === ''
        ? 'Name the branch to merge into.'
        : Object.keys(change).length === 0
          ? 'Nothing is changed.'
          : null);
  const flags = [
    ...(change.title === undefined ? [] : [`--title ${quoted(change.title)}`]),
    ...(change.body === undefined ? [] : ['--body-file text.md']),
    ...(change.base === undefined ? [] : [`--base ${quoted(change.base)}`]),
  ].join(' ');
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(change);
      }}
    >
      <Field
        label="Title"
        value={typed.title}
        onChange={(next) => set({ title: next })}
        fault={fieldFault(write.fault, '/title')}
        maxLength={256}
        autoFocus
      />
      <Field
        label="Text"
        lines={8}
        value={typed.body}
        onChange={(next) => set({ body: next })}
        fault={fieldFault(write.fault, '/body')}
        maxLength={65_536}
      />
      <BranchField
        label="Branch to merge into"
        repositoryId={pull.repositoryId}
        without={pull.headRef}
        value={typed.base}
        onChange={(next) => set({ base: next })}
        fault={fieldFault(write.fault, '/base')}
      />
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex items-center justify-end gap-2">
        <Sample pull={pull} body={change} flags={flags} />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Save
        </Button>
      </div>
    </form>
  );
}
