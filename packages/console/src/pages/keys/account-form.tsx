import type { Account } from '@headrace/client';
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { fieldFault } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';
import { useOffReason } from '../../api/write.ts';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { PermissionGrid } from './permission-grid.tsx';
import type { Permissions } from './permissions.ts';
import { MOST_PROJECTS, ProjectChoice } from './project-choice.tsx';

export interface AccountDraft {
  name: string;
  permissions: Permissions;
  projectIds: string[] | null;
}

export const NEW: AccountDraft = { name: '', permissions: {}, projectIds: null };

export const draftOf = ({ name, permissions, projectIds }: Account): AccountDraft => ({
  name,
  permissions,
  projectIds,
});

/** What the service takes of it. */
export const bodyOf = ({ name, permissions, projectIds }: AccountDraft) => ({
  name: name.trim(),
  permissions,
  projectIds,
});

const AT = ['/name', '/permissions', '/projectIds'];

/** The name, permissions and reach of a service account. */
export function AccountForm({
  draft,
  onChange,
  write,
  verb,
  samples,
  onClose,
}: {
  draft: AccountDraft;
  onChange: (draft: AccountDraft) => void;
  write: { send: (body: ReturnType<typeof bodyOf>) => void; isSending: boolean; fault: Fault | null };
  verb: string;
  samples: ReactNode;
  onClose: () => void;
}) {
  const off = useOffReason();
  const { projectIds } = draft;
  const wrong =
    draft.name.trim() === ''
      ? 'Give it a name.'
      : projectIds !== null && projectIds.length === 0
        ? 'Choose an app or project, or all of them.'
        : projectIds !== null && projectIds.length > MOST_PROJECTS
          ? `Choose at most ${MOST_PROJECTS}.`
          : null;
  const offBecause = off ?? wrong;
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(bodyOf(draft));
      }}
    >
      <Field
        label="Name"
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        hint="What uses it: “shop backend”, “nightly build”."
        fault={fieldFault(write.fault, '/name')}
        maxLength={100}
        autoComplete="off"
        autoFocus
      />
      <PermissionGrid
        value={draft.permissions}
        onChange={(permissions) => onChange({ ...draft, permissions })}
        fault={fieldFault(write.fault, '/permissions')}
      />
      <ProjectChoice
        value={projectIds}
        onChange={(ids) => onChange({ ...draft, projectIds: ids })}
        fault={fieldFault(write.fault, '/projectIds')}
      />
      <FaultLine fault={write.fault} at={AT} />
      <div className="flex items-center justify-end gap-2">
        {samples}
        <Button isDisabled={write.isSending} onPress={onClose}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          {verb}
        </Button>
      </div>
    </Form>
  );
}
