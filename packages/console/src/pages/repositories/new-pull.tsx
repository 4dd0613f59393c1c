import { isCode } from '@headrace/client';
import type { Repository, ScmCreatePullRequestInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { repositoryKey } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { BranchField } from '../projects/branch-field.tsx';
import { worded } from './words.ts';

const NOTHING = { headRef: '', baseRef: '', title: '', body: '', draft: false };
const SHOWN = ['/headRef', '/baseRef', '/title', '/body'];

/** For a branch that somebody pushed. */
export function NewPull({
  repository: { id: repositoryId, defaultBranch },
  onClose,
}: {
  repository: Repository;
  onClose: () => void;
}) {
  const [typed, setTyped] = useKept(`new pull request of ${repositoryId}`, NOTHING);
  const [existing, setExisting] = useState<number | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const set = (change: Partial<typeof typed>) => setTyped({ ...typed, ...change });
  const base = typed.baseRef.trim();
  const body: ScmCreatePullRequestInput = {
    title: typed.title.trim(),
    headRef: typed.headRef.trim(),
    ...(base && base !== defaultBranch && { baseRef: base }),
    ...(typed.body.trim() && { body: typed.body.trim() }),
    ...(typed.draft && { draft: true }),
  };
  const to = (number: number) => ({
    to: '/organization/repositories/$repositoryId/pull-requests/$number' as const,
    params: { repositoryId, number: String(number) },
  });
  const write = useWrite({
    intent: `open pull request in ${repositoryId}`,
    call: async (input: ScmCreatePullRequestInput, options) => {
      setExisting(null);
      try {
        return await worded(client.scm.createPullRequest(repositoryId, input, options));
      } catch (error) {
        // Here it names its number; that of a thread has an id.
        const { number } = isCode(error, 'pull_request_exists')
          ? (error.details as Record<string, unknown>)
          : { number: null };
        setExisting(typeof number === 'number' ? number : null);
        throw error;
      }
    },
    onDone: ({ number }) => {
      setTyped(NOTHING);
      void queries.invalidateQueries({ queryKey: repositoryKey(repositoryId) });
      onClose();
      void navigate(to(number));
    },
  });
  const offBecause =
    off ??
    (body.headRef === ''
      ? 'Name the branch with the changes.'
      : body.title === ''
        ? 'Give it a title.'
        : null);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body);
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <BranchField
          label="Branch with the changes"
          repositoryId={repositoryId}
          without={base || defaultBranch}
          value={typed.headRef}
          onChange={(headRef) => set({ headRef })}
          fault={fieldFault(write.fault, '/headRef')}
        />
        <Field
          label="Branch to merge into"
          mono
          placeholder={defaultBranch}
          value={typed.baseRef}
          onChange={(baseRef) => set({ baseRef })}
          fault={fieldFault(write.fault, '/baseRef')}
          maxLength={255}
        />
      </div>
      <Field
        label="Title"
        value={typed.title}
        onChange={(title) => set({ title })}
        fault={fieldFault(write.fault, '/title')}
        maxLength={256}
      />
      <Field
        label="Text"
        hint="Optional: what changes, and why."
        lines={5}
        value={typed.body}
        onChange={(text) => set({ body: text })}
        fault={fieldFault(write.fault, '/body')}
        maxLength={65_536}
      />
      <Checkbox isSelected={typed.draft} onChange={(draft) => set({ draft })}>
        A draft: it is not merged before it is marked as ready
      </Checkbox>
      <FaultLine fault={write.fault} at={SHOWN} />
      {existing !== null && (
        <Link {...to(existing)} className="link">
          Open number {existing}
        </Link>
      )}
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path={`/api/source-control/scm/repositories/${repositoryId}/pull-requests`}
          body={body}
          ts={`const pull = await client.scm.createPullRequest('${repositoryId}', ${JSON.stringify(body)});`}
          cli={`headrace pulls create ${repositoryId} ${quoted(body.headRef)} ${quoted(body.title)}${body.baseRef ? ` --base ${quoted(body.baseRef)}` : ''}${body.body ? ' --body-file text.md' : ''}${body.draft ? ' --draft' : ''}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Open the pull request
        </Button>
      </div>
    </form>
  );
}
