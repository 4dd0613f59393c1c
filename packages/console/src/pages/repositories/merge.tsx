/** Merges a pull request, and says before that why it would be refused. */
import type { Repository, ScmMergePullRequestInput, ScmPullRequest } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { itemsOf } from '../../api/query.ts';
import { pullQuery, repositoryKey, statusesQuery } from '../../api/repositories-queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { pageHeading, useRefocus } from './use-refocus.ts';
import { shortSha, worded } from './words.ts';

interface Props {
  repository: Repository;
  pull: ScmPullRequest;
}

export function MergePart({ repository, pull }: Props) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('repo:update');
  const onMerged = useRefocus(pageHeading);
  const statuses = useInfiniteQuery(statusesQuery(repository.id, pull.headSha));
  const done = new Set(
    itemsOf(statuses.data)
      .filter(({ state }) => state === 'success')
      .map(({ context }) => context),
  );
  const unmet = repository.requiredChecks.filter((check) => !done.has(check));
  const isRead = statuses.data !== undefined && !statuses.hasNextPage;
  const isFree = pull.mergeable === 'mergeable' && unmet.length === 0;
  const reasons = [
    ...(pull.draft ? ['It is a draft: mark it as ready.'] : []),
    ...(pull.mergeable === 'conflicting'
      ? [
          `It is in conflict with ${pull.baseRef}: merge that branch into ${pull.headRef}, resolve the conflicts and push.`,
        ]
      : []),
    ...(isRead ? unmet : []).map(
      (check) => `The required check ${check} has not succeeded on the newest commit.`,
    ),
  ];
  return (
    <Section
      title="Merge"
      actions={
        may && (
          <Button kind="primary" onPress={() => setOpen(true)}>
            Merge
          </Button>
        )
      }
    >
      <div className="px-4 pb-3">
        {reasons.length === 0 ? (
          isFree ? (
            <Status status="ready" word="Nothing stands in its way" />
          ) : (
            <Status status="pending" word="Not known yet whether something stands in its way" />
          )
        ) : (
          <ul aria-label="What stands in its way" className="flex flex-col gap-1">
            {reasons.map((reason) => (
              <li key={reason} className="flex items-baseline gap-2">
                <Status status="blocked" bare />
                <span className="long">
                  <Plain text={reason} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Dialog title="Merge the pull request" isOpen={isOpen} onClose={() => setOpen(false)}>
        <MergeForm repository={repository} pull={pull} onMerged={onMerged} onClose={() => setOpen(false)} />
      </Dialog>
    </Section>
  );
}

const ABOUT: Record<string, string> = {
  merge: 'A commit with two parents.',
  squash: 'One commit with all the changes.',
  rebase: 'Copies of the commits, in a row. They keep their messages.',
};

/** Only the commit that was there when the dialog was opened is merged: one that is pushed meanwhile is not. */
function MergeForm({
  repository,
  pull,
  onMerged,
  onClose,
}: Props & { onMerged: () => void; onClose: () => void }) {
  const { repositoryId, number, headRef, baseRef } = pull;
  const [headSha] = useState(pull.headSha);
  const { mergeMethods } = repository;
  const [method, setMethod] = useState<(typeof mergeMethods)[number]>(mergeMethods[0] ?? 'merge');
  const [typed, setTyped] = useState({ title: '', message: '' });
  const queries = useQueryClient();
  const isMoved = pull.headSha !== headSha;
  const off =
    useOffReason() ?? (isMoved ? 'The branch has moved: close this, look at it, then merge.' : null);
  const hasWords = method !== 'rebase';
  const body: ScmMergePullRequestInput = {
    method,
    ...(hasWords && typed.title.trim() && { title: typed.title.trim() }),
    ...(hasWords && typed.message.trim() && { message: typed.message.trim() }),
    expectedHeadSha: headSha,
  };
  const write = useWrite({
    intent: `merge ${number} of ${repositoryId}`,
    call: (input: ScmMergePullRequestInput, options) =>
      worded(client.scm.mergePullRequest(repositoryId, number, input, options)),
    onDone: (merged) => {
      queries.setQueryData(pullQuery(repositoryId, String(number)).queryKey, merged);
      void queries.invalidateQueries({ queryKey: repositoryKey(repositoryId) });
      notify('Merged.');
      onMerged();
      onClose();
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!off && !write.isSending) write.send(body);
      }}
    >
      <p className="long text-ink-2">
        Brings {shortSha(headSha)} of <Plain text={headRef} /> into <Plain text={baseRef} />. That cannot be
        undone here.
      </p>
      <Choices
        label="How"
        hint={ABOUT[method]}
        choices={mergeMethods.map((id) => ({ id, text: id }))}
        value={method}
        onChange={(id) => setMethod(id as typeof method)}
      />
      {hasWords && (
        <>
          <Field
            label="First line of the commit"
            hint="Optional: else the service writes it."
            value={typed.title}
            onChange={(title) => setTyped({ ...typed, title })}
            fault={fieldFault(write.fault, '/title')}
            maxLength={256}
          />
          <Field
            label="The rest of its message"
            hint="Optional."
            lines={3}
            value={typed.message}
            onChange={(message) => setTyped({ ...typed, message })}
            fault={fieldFault(write.fault, '/message')}
            maxLength={65_536}
          />
        </>
      )}
      {isMoved && (
        <p role="alert" className="long border-l-2 border-fail pl-3 text-fail">
          The branch has moved to {shortSha(pull.headSha)} since you opened this. Close this, look at it, then
          merge.
        </p>
      )}
      <FaultLine fault={write.fault} at={['/title', '/message']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path={`/api/source-control/scm/repositories/${repositoryId}/pull-requests/${number}/merge`}
          body={body}
          ts={`await client.scm.mergePullRequest('${repositoryId}', ${number}, ${JSON.stringify(body)});`}
          cli={`headrace pulls merge ${repositoryId} ${number} --method ${method}${body.title ? ` --title ${quoted(body.title)}` : ''}${body.message ? ` --message ${quoted(body.message)}` : ''}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
          Merge it
        </Button>
      </div>
    </form>
  );
}
