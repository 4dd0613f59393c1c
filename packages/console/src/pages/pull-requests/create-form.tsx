/** Opens a pull request with the thread's changes, or takes over one that is there. */
import type { CreatePullRequestInput, PullRequest } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Field, Switch } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { useThread } from '../thread/context.ts';
import { keepPull } from './context.tsx';
import { bodyOf, cliOf, EMPTY, numberFault } from './new-pull.ts';
import type { NewPull } from './new-pull.ts';
import { RefusalLine } from './refusal-line.tsx';

const FIELDS = ['/title', '/body', '/base', '/number'];
const WHAT = [
  { id: 'new', text: 'A new one' },
  { id: 'number', text: 'One that is there' },
];
const DRAFT = [
  { id: 'settings', text: 'As the settings say' },
  { id: 'no', text: 'Ready for review' },
  { id: 'yes', text: 'A draft' },
];
const LOOP = [
  { id: 'settings', text: 'As the settings say' },
  { id: 'on', text: 'On' },
  { id: 'merge', text: 'On, and merges by itself' },
  { id: 'off', text: 'Off' },
];

export function CreateForm({ onDone }: { onDone: (made: PullRequest) => void }) {
  const { appId, threadId, thread } = useThread();
  const queries = useQueryClient();
  const [typed, setTyped] = useKept<NewPull>(`pull request of ${threadId}`, EMPTY);
  const offline = useOffReason();
  const may = useMay('thread:update');
  const mayMerge = useMay('repo:update');
  const create = useWrite({
    intent: `pull request of ${threadId}`,
    call: (body: CreatePullRequestInput, options) => client.pullRequests.create(threadId, body, options),
    onDone: (made) => {
      keepPull(queries, appId, made);
      setTyped(EMPTY);
      notify(`Pull request ${made.number} is open.`);
      onDone(made);
    },
  });
  const set = (part: Partial<NewPull>) => setTyped((now) => ({ ...now, ...part }));
  const isNew = typed.what === 'new';
  const wrong = numberFault(typed);
  const missing = !isNew && typed.number.trim() === '' ? 'Give its number.' : wrong;
  const body = bodyOf(typed);
  const off = may ? offline : 'Your role may not change threads.';
  const reason = off ?? reasonOf(thread) ?? missing;
  return (
    <Form
      aria-label="New pull request"
      className="flex flex-col gap-4 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!reason && !create.isSending) create.send(body);
      }}
    >
      <p className="text-ink-2">
        The service commits the thread’s changes, pushes them as a branch and opens a pull request. Newer
        changes are pushed, too, until it is merged or closed.
      </p>
      <Choices
        label="Pull request"
        choices={WHAT}
        value={typed.what}
        onChange={(what) => set({ what: what as NewPull['what'] })}
      />
      {isNew ? (
        <NewFields typed={typed} set={set} fault={(path) => fieldFault(create.fault, path)} />
      ) : (
        <Field
          label="Its number"
          inputMode="numeric"
          value={typed.number}
          onChange={(number) => set({ number })}
          hint={`Open, from a branch of the same repository into ${thread.baseBranch ?? 'the thread’s base branch'}. The thread then pushes to that branch; a thread that had it pushes no more.`}
          fault={wrong ?? fieldFault(create.fault, '/number')}
        />
      )}
      <Choices
        label="Review loop"
        choices={mayMerge ? LOOP : LOOP.filter(({ id }) => id !== 'merge')}
        value={typed.loop}
        onChange={(loop) => set({ loop: loop as NewPull['loop'] })}
        hint="On: the agent works on failing checks, review comments and conflicts until all is green."
      />
      <RefusalLine fault={create.fault} at={FIELDS} appId={appId} threadId={threadId} />
      <div className="flex items-center gap-2">
        <Button type="submit" kind="primary" isPending={create.isSending} offBecause={reason}>
          {isNew ? 'Open the pull request' : 'Take it over'}
        </Button>
        <AsCode
          method="POST"
          path={`/api/threads/${threadId}/pull-requests`}
          body={body}
          ts={() => `client.pullRequests.create("${threadId}", ${JSON.stringify(body, null, 2)})`}
          cli={cliOf(threadId, body)}
        />
      </div>
    </Form>
  );
}

function NewFields({
  typed,
  set,
  fault,
}: {
  typed: NewPull;
  set: (part: Partial<NewPull>) => void;
  fault: (path: string) => string | null;
}) {
  const { thread } = useThread();
  return (
    <>
      <Field
        label="Title"
        maxLength={256}
        placeholder={thread.title ?? ''}
        value={typed.title}
        onChange={(title) => set({ title })}
        hint="Empty: the thread’s title, or the first line of its first message."
        fault={fault('/title')}
      />
      <Field
        label="Text"
        lines={5}
        maxLength={65_536}
        value={typed.body}
        onChange={(text) => set({ body: text })}
        hint="Empty: the agent’s last reply, and its issue."
        fault={fault('/body')}
      />
      <Field
        label="Base branch"
        mono
        maxLength={255}
        placeholder={thread.baseBranch ?? ''}
        value={typed.base}
        onChange={(base) => set({ base })}
        hint="Empty: the branch that the thread started from."
        fault={fault('/base')}
      />
      <Choices
        label="Opened as"
        choices={DRAFT}
        value={typed.draft}
        onChange={(draft) => set({ draft: draft as NewPull['draft'] })}
      />
      {thread.trackerIssueUrl !== null && (
        <Switch isSelected={typed.comments} onChange={(comments) => set({ comments })}>
          Name it in a comment on the thread’s issue
        </Switch>
      )}
    </>
  );
}

/** What is known before it is asked. */
function reasonOf({
  archivedAt,
  sealedAt,
}: {
  archivedAt: string | null;
  sealedAt: string | null;
}): string | null {
  if (archivedAt !== null) return 'The thread is archived: take it out of the archive first.';
  if (sealedAt !== null) return 'The thread is sealed: its changes are merged. Go on in a new thread.';
  return null;
}
