import type { Organization } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { leaveTo } from '../../app/leave.ts';
import { switchOrganization } from '../../app/switch-organization.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';

/** Asks for the name before it deletes, then goes on in one of the `others`. */
export function DeleteOrganization({
  organization: { id, name },
  others,
  onClose,
}: {
  organization: Organization;
  others: readonly Organization[];
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const off = useOffReason();
  const write = useWrite({
    intent: `delete organization ${id}`,
    call: (_: null, options) => client.organizations.delete(id, options),
    onDone: () => {
      const next = others[0];
      if (next) void switchOrganization(next.id).catch(() => leaveTo('/console/'));
      else leaveTo('/console/');
    },
  });
  const isNamed = typed.trim() === name.trim();
  return (
    <>
      <p className="text-ink-2">
        Its apps, projects, threads and sources go, with its secrets, webhooks, automations and the
        repositories that the service hosts for it. All its keys stop working, and nobody can act in it again.
        Nothing brings it back.
        {others.length === 0 && ' It is your only organization: you can do nothing here after that.'}
      </p>
      <p className="long text-ink-2">
        To delete it, type its name:{' '}
        <b className="text-ink">
          <Plain text={name} />
        </b>
      </p>
      <Field label="The organization’s name" value={typed} onChange={setTyped} autoFocus autoComplete="off" />
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="DELETE"
          path={`/api/organizations/${id}`}
          isSession
          ts={`await client.organizations.delete('${id}');`}
          cli={`headrace organization delete ${id}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="danger"
          isPending={write.isSending}
          offBecause={off ?? (isNamed ? null : 'Type the name first.')}
          onPress={() => write.send(null)}
        >
          Delete the organization
        </Button>
      </div>
    </>
  );
}
