/** What the service itself decides for a repository that it hosts. */
import type { Repository, ScmUpdateRepositoryInput } from '@headrace/client';
import { isCode } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { repositoryQuery, REPOSITORIES } from '../../api/repositories-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { DeleteRepository } from './delete-repository.tsx';
import { worded } from './words.ts';

const METHODS = [
  { id: 'merge', about: 'a commit with two parents: the history stays as it was' },
  { id: 'squash', about: 'one commit with all the changes' },
  { id: 'rebase', about: 'copies of the commits, in a row' },
] as const;
type Method = (typeof METHODS)[number]['id'];

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

export function RepositorySettings({ repository }: { repository: Repository }) {
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <SettingsForm repository={repository} />
      <Section title="Delete">
        <div className="flex flex-wrap items-center gap-3 px-4 pb-6">
          <p className="text-ink-2">All its commits, pull requests and reports go with it, for good.</p>
          <Button kind="danger" onPress={() => setDeleting(true)}>
            Delete the repository
          </Button>
        </div>
      </Section>
      <Dialog title="Delete the repository" isOpen={isDeleting} onClose={() => setDeleting(false)}>
        <DeleteRepository repository={repository} onClose={() => setDeleting(false)} />
      </Dialog>
    </>
  );
}

function SettingsForm({ repository }: { repository: Repository }) {
  const { id } = repository;
  // As it was when the form was opened: what others change meanwhile stays as they made it.
  const [opened, setOpened] = useState(repository);
  const [branch, setBranch] = useState(opened.defaultBranch);
  const [checks, setChecks] = useState(opened.requiredChecks.join('\n'));
  const [methods, setMethods] = useState<readonly Method[]>(opened.mergeMethods);
  const queries = useQueryClient();
  const off = useOffReason();
  const requiredChecks = linesOf(checks);
  const mergeMethods = METHODS.map((one) => one.id).filter((one) => methods.includes(one));
  const change: ScmUpdateRepositoryInput = {
    ...(branch.trim() !== opened.defaultBranch && { defaultBranch: branch.trim() }),
    ...(requiredChecks.join('\n') !== opened.requiredChecks.join('\n') && { requiredChecks }),
    ...(mergeMethods.toSorted().join() !== opened.mergeMethods.toSorted().join() && { mergeMethods }),
  };
  const [isNoBranch, setNoBranch] = useState(false);
  const write = useWrite({
    intent: `change ${id}`,
    call: async (input: ScmUpdateRepositoryInput, options) => {
      setNoBranch(false);
      try {
        return await worded(client.scm.updateRepository(id, input, options));
      } catch (error) {
        setNoBranch(isCode(error, 'branch_not_found'));
        throw error;
      }
    },
    onDone: (changed, input) => {
      setOpened({ ...opened, ...input });
      queries.setQueryData(repositoryQuery(id).queryKey, changed);
      void queries.invalidateQueries({ queryKey: REPOSITORIES });
      notify('Saved.');
    },
  });
  const offBecause =
    off ??
    (branch.trim() === ''
      ? 'Name the default branch.'
      : mergeMethods.length === 0
        ? 'Allow at least one method.'
        : Object.keys(change).length === 0
          ? 'Nothing is changed.'
          : null);
  const flags = [
    ...(change.defaultBranch ? [`--branch ${quoted(change.defaultBranch)}`] : []),
    ...(change.requiredChecks?.length === 0 ? ['--no-required-checks'] : []),
    ...(change.requiredChecks ?? []).map((check) => `--required-check ${quoted(check)}`),
    ...(change.mergeMethods ?? []).map((method) => `--merge-method ${method}`),
  ].join(' ');
  return (
    <form
      className="flex max-w-[640px] flex-col gap-4 p-4 pb-6"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(change);
      }}
    >
      <Field
        label="Default branch"
        hint="Projects and pull requests start from it unless they name another one. It cannot be rewritten or deleted by a push."
        mono
        value={branch}
        onChange={setBranch}
        fault={
          fieldFault(write.fault, '/defaultBranch') ??
          (isNoBranch ? 'The repository has no branch of this name: push it first.' : null)
        }
        maxLength={255}
      />
      <Field
        label="Required checks"
        hint="One a line, as CI names them. A pull request merges only when each has succeeded on its newest commit."
        mono
        lines={4}
        value={checks}
        onChange={setChecks}
        fault={
          write.fault?.fields.find(({ path }) => path.startsWith('/requiredChecks'))?.message ??
          (requiredChecks.length > 50 ? 'At most 50.' : null)
        }
      />
      <fieldset className="flex flex-col gap-1">
        <legend className="label pb-1">Allowed ways to merge</legend>
        {METHODS.map(({ id: method, about }) => (
          <Checkbox
            key={method}
            isSelected={methods.includes(method)}
            onChange={(isOn) =>
              setMethods(isOn ? [...methods, method] : methods.filter((one) => one !== method))
            }
          >
            <span>
              {method} <span className="text-ink-3">{about}</span>
            </span>
          </Checkbox>
        ))}
      </fieldset>
      <FaultLine fault={isNoBranch ? null : write.fault} at={['/defaultBranch', '/requiredChecks']} />
      <div className="flex items-center gap-2">
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Save
        </Button>
        <AsCode
          method="PATCH"
          path={`/api/source-control/scm/repositories/${id}`}
          body={change}
          ts={`await client.scm.updateRepository('${id}', ${JSON.stringify(change)});`}
          cli={`headrace repos update ${id} ${flags}`}
        />
      </div>
    </form>
  );
}
