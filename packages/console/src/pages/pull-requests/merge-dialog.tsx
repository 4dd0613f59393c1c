/** Merges the commit that was seen, and no other. */
import type { MergePullRequestInput } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { appQuery } from '../../api/queries.ts';
import { repositoryQuery } from '../../api/repositories-queries.ts';
import { pullRequestQuery } from '../../api/reviews-queries.ts';
import { quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { useKept } from '../../ui/kept.ts';
import { useThread } from '../thread/context.ts';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { Commit } from './marks.tsx';
import { isLeftOut } from './pushed.ts';
import { RefusalLine } from './refusal-line.tsx';

type Method = NonNullable<MergePullRequestInput['method']>;

const METHODS: Record<Method, { text: string; means: string }> = {
  merge: { text: 'Merge commit', means: 'One commit with two parents; all commits of the branch stay.' },
  squash: { text: 'Squash', means: 'One commit with all changes.' },
  rebase: { text: 'Rebase', means: 'The branch’s commits, one by one, upon the base.' },
};

const FIELDS = ['/title', '/message', '/method'];
const NOTHING = { title: '', message: '' };

export function MergeDialog({ onClose }: { onClose: () => void }) {
  const { appId, threadId, pull } = usePull();
  const queries = useQueryClient();
  const { data: project } = useQuery(appQuery(appId));
  const repositoryId = project?.repositoryId ?? '';
  const repository = useQuery({
    ...repositoryQuery(repositoryId),
    enabled: repositoryId !== '',
  });
  const [chosen, setMethod] = useState<Method | null>(null);
  const [typed, setTyped] = useKept(`merge ${pull.id}`, NOTHING);
  const [seen, setSeen] = useState(pull.headSha);
  const off = usePullOff();
  const { latestSourceId } = useThread().thread;
  const allowed = repository.data?.mergeMethods ?? [];
  const method = chosen ?? allowed[0] ?? null;
  const merge = usePullWrite(
    'merge',
    (ids, body: MergePullRequestInput, options) => client.pullRequests.merge(...ids, body, options),
    (merged) => {
      setTyped(NOTHING);
      notify(
        merged.state === 'merged'
          ? `Merged into ${merged.baseRef}. The thread is sealed.`
          : 'It is in the merge queue of the provider.',
      );
      onClose();
    },
  );
  const title = typed.title.trim();
  // What was typed stays for another way to merge.
  const hasMessage = method !== 'rebase';
  const body = {
    ...(method && { method }),
    ...(title && hasMessage && { title }),
    ...(typed.message && hasMessage && { message: typed.message }),
    expectedHeadSha: seen,
  };
  const lookAgain = () =>
    void queries.invalidateQueries({ queryKey: pullRequestQuery(appId, threadId, pull.id).queryKey });
  return (
    <Dialog title={`Merge into ${pull.baseRef}`} isOpen onClose={onClose}>
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!off && !merge.isSending) merge.send(body);
        }}
      >
        <p className="text-ink-2">
          Commit <Commit sha={seen} copy={false} /> and what it holds is merged; a branch that moves meanwhile
          is refused. Then the thread is sealed: its queued runs are cancelled, and work goes on in a new
          thread. A merge cannot be undone here.
        </p>
        {isLeftOut(pull, latestSourceId) && (
          <p className="text-wait">
            The thread has files that are not on the branch{pull.push.status === 'pending' && ' yet'}: a merge
            now leaves them out.
          </p>
        )}
        {seen !== pull.headSha && (
          <p className="flex flex-wrap items-center gap-2 text-wait">
            The branch now holds <Commit sha={pull.headSha} copy={false} />.
            <Button
              onPress={() => {
                merge.reset();
                setSeen(pull.headSha);
              }}
            >
              Merge this one
            </Button>
          </p>
        )}
        {allowed.length > 0 && method && (
          <Choices
            label="How"
            choices={allowed.map((id) => ({ id, text: METHODS[id]?.text ?? id }))}
            value={method}
            onChange={(id) => setMethod(id as Method)}
            hint={METHODS[method]?.means}
          />
        )}
        {hasMessage && (
          <>
            <Field
              label="First line of the commit"
              hint="Empty: as the provider words it."
              maxLength={256}
              value={typed.title}
              onChange={(next) => setTyped((now) => ({ ...now, title: next }))}
              fault={fieldFault(merge.fault, '/title')}
            />
            <Field
              label="Rest of its message"
              lines={3}
              value={typed.message}
              onChange={(next) => setTyped((now) => ({ ...now, message: next }))}
              fault={fieldFault(merge.fault, '/message')}
            />
          </>
        )}
        <RefusalLine fault={merge.fault} at={FIELDS} appId={appId} threadId={threadId} />
        {merge.fault?.code === 'head_moved' && <Button onPress={lookAgain}>Look at the branch again</Button>}
        <div className="flex items-center justify-end gap-2">
          <PullAsCode rest="/merge" name="merge" body={body} cli={cliOf(pull.number, body)} />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={merge.isSending} offBecause={off}>
            Merge
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const cliOf = (number: number, { method, title, message }: MergePullRequestInput): string =>
  [
    `merge ${number}`,
    method && `--method ${method}`,
    title && `--title ${quoted(title)}`,
    message && `--message ${quoted(message)}`,
  ]
    .filter(Boolean)
    .join(' ');
