import type { InviteMemberInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { invitationsQuery } from '../../api/team-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { Time } from '../../ui/values.tsx';
import { RoleChoice } from './role-choice.tsx';
import { useRole } from './roles.ts';
import type { Role } from './roles.ts';

const NOTHING: { email: string; role: Role } = { email: '', role: 'member' };

interface Made {
  email: string;
  url: string | null;
  expiresAt: string;
}

/**
 * Asks whom, then shows the address of the invitation once. What is sent and what came live outside the dialog: closing
 * it loses neither.
 */
export function Invite({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [typed, setTyped] = useKept('invitation', NOTHING);
  const [made, setMade] = useState<Made | null>(null);
  const own = useRole();
  const queries = useQueryClient();
  const off = useOffReason();
  const body: InviteMemberInput = { email: typed.email.trim(), role: typed.role };
  const write = useWrite({
    intent: 'invite',
    // The address in the answer lets its reader in.
    isSecret: true,
    call: (input: InviteMemberInput, options) => client.members.invite(input, options),
    onDone: ({ email, url, expiresAt }) => {
      setTyped(NOTHING);
      setMade({ email, url, expiresAt });
      void queries.invalidateQueries({ queryKey: invitationsQuery().queryKey });
    },
  });
  const end = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog title="Invite a person" isOpen={isOpen} isHeld={made !== null || write.isSending} onClose={end}>
      {made ? (
        <ShownOnce label={`Address for ${made.email}`} secret={made.url} onClose={end}>
          {made.url === null ? (
            <p>
              The invitation of <Plain text={made.email} /> was made, but its address was in an answer that
              was lost. Revoke it and invite again.
            </p>
          ) : (
            <p className="long">
              No mail is sent: give this address to <Plain text={made.email} /> yourself. It is shown only
              now, works once, and ends <Time at={made.expiresAt} />. Whoever opens it joins as the invited
              person.
            </p>
          )}
        </ShownOnce>
      ) : (
        <Form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!off && !write.isSending) write.send(body);
          }}
        >
          <Field
            label="E-mail address"
            type="email"
            value={typed.email}
            onChange={(email) => setTyped({ ...typed, email })}
            hint="No mail is sent. You get an address to give to the person."
            fault={fieldFault(write.fault, '/email')}
            maxLength={320}
            autoComplete="off"
            isRequired
            autoFocus
          />
          <RoleChoice own={own} value={typed.role} onChange={(role) => setTyped({ ...typed, role })} />
          <FaultLine fault={write.fault} at={['/email']} />
          <div className="flex items-center justify-end gap-2">
            <AsCode
              method="POST"
              path="/api/members"
              body={body}
              isSession
              ts={`const { url } = await client.members.invite(${JSON.stringify(body)});`}
              cli={`headrace members invite ${quoted(body.email || 'ADDRESS')} --role ${body.role}`}
            />
            <Button isDisabled={write.isSending} onPress={end}>
              Cancel
            </Button>
            <Button type="submit" kind="primary" isPending={write.isSending} offBecause={off}>
              Invite
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
