import type { CreateProjectInput, Repository } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { faultOf, fieldFault } from '../../api/faults.ts';
import { repositoriesQuery } from '../../api/repositories-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Combo } from '../../ui/combo.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { useLater } from '../../ui/use-later.ts';
import { BranchField } from './branch-field.tsx';

interface Typed {
  name: string;
  /** As it was typed or picked. */
  repository: string;
  /** Of the one that was picked. */
  repositoryId: string | null;
  branch: string;
}
const NOTHING: Typed = { name: '', repository: '', repositoryId: null, branch: '' };
const SHOWN = ['/name', '/repositoryId', '/defaultBranch'];

/** Opens the new project. */
export function CreateProject({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Create a project" isOpen={isOpen} onClose={onClose}>
      <NewProject onClose={onClose} />
    </Dialog>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useKept('new project', NOTHING);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const off = useOffReason();
  const { found, error } = useFound(typed.repository);
  // A whole name may be typed before its repository is found. Two providers may have it.
  const named = found.filter(({ fullName }) => fullName === typed.repository.trim());
  const repositoryId = typed.repositoryId ?? (named.length === 1 ? named[0]!.id : null);
  const branch = typed.branch.trim();
  const body: CreateProjectInput = {
    name: typed.name.trim(),
    ...(repositoryId !== null && { repositoryId, ...(branch && { defaultBranch: branch }) }),
  };
  const write = useWrite({
    intent: 'create project',
    call: (input: CreateProjectInput, options) => client.projects.create(input, options),
    onDone: ({ id }) => {
      setTyped(NOTHING);
      onClose();
      void queries.invalidateQueries({ queryKey: ['projects'] });
      void navigate({ to: '/apps/$appId', params: { appId: id } });
    },
  });
  const unknown = typed.repository.trim() !== '' && repositoryId === null;
  const offBecause = off ?? (unknown ? 'Pick a repository from the list, or leave the field empty.' : null);
  const type = (repository: string) =>
    setTyped((now) =>
      repository === now.repository ? now : { ...now, repository, repositoryId: null, branch: '' },
    );
  const pick = (id: string, repository: string) =>
    setTyped((now) => ({
      ...now,
      repository,
      repositoryId: id,
      branch: id === repositoryId ? now.branch : '',
    }));
  const chosen = found.find(({ id }) => id === repositoryId);
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause) write.send(body);
      }}
    >
      <Field
        label="Name"
        value={typed.name}
        onChange={(name) => setTyped({ ...typed, name })}
        fault={fieldFault(write.fault, '/name')}
        maxLength={200}
        isRequired
        autoFocus
      />
      <Combo
        label="Repository"
        placeholder="None, or a part of a name"
        hint={
          error
            ? `The repositories cannot be read now: ${faultOf(error).message}`
            : 'Its threads start from branches and end in pull requests. It stays for good. Without one, the project has a head as an app has, and begins with an import.'
        }
        choices={found.map(({ id, fullName, provider }) => ({ id, text: fullName, note: provider }))}
        typed={typed.repository}
        onType={type}
        onPick={({ id, text }) => pick(id, text)}
        fault={fieldFault(write.fault, '/repositoryId')}
      />
      {repositoryId !== null && (
        <BranchField
          repositoryId={repositoryId}
          label="Default branch"
          placeholder={chosen?.defaultBranch}
          hint="Threads start from it, and the head follows it. Empty: the repository’s own."
          value={typed.branch}
          onChange={(branch) => setTyped((now) => ({ ...now, branch }))}
          fault={fieldFault(write.fault, '/defaultBranch')}
        />
      )}
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="POST"
          path="/api/projects"
          body={body}
          ts={`const project = await client.projects.create(${JSON.stringify(body)});`}
          cli={[
            `headrace projects create ${quoted(body.name)}`,
            ...(repositoryId === null ? [] : [`--repo ${repositoryId}`]),
            ...(body.defaultBranch === undefined ? [] : [`--branch ${quoted(body.defaultBranch)}`]),
          ].join(' ')}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Create
        </Button>
      </div>
    </Form>
  );
}

/** Repositories whose name has what is typed. */
function useFound(typed: string): { found: Repository[]; error: unknown } {
  const query = useLater(typed.trim()).slice(0, 200);
  const { data, error } = useInfiniteQuery({
    ...repositoriesQuery(query ? { query } : {}),
    placeholderData: (last) => last,
  });
  return { found: itemsOf(data), error };
}
