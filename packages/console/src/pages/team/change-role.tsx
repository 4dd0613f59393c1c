import type { Member } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { sessionQuery, useSession } from '../../api/session.ts';
import { membersQuery } from '../../api/team-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { RoleChoice } from './role-choice.tsx';
import { useRole } from './roles.ts';
import type { Role } from './roles.ts';

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const { userId, email, name } = member;
  const [role, setRole] = useState<Role>(member.role);
  const own = useRole();
  const { user } = useSession();
  const queries = useQueryClient();
  const off = useOffReason();
  const write = useWrite({
    intent: `role of ${userId}`,
    call: (body: { role: Role }, options) => client.members.update(userId, body, options),
    onDone: (changed) => {
      notify(`${changed.email} is now ${changed.role}.`);
      void queries.invalidateQueries({ queryKey: membersQuery().queryKey });
      if (userId === user.id) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onClose();
    },
  });
  const offBecause = off ?? (role === member.role ? `That is the role of ${email} now.` : null);
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send({ role });
      }}
    >
      <p className="long text-ink-2">
        Of <Plain text={name} />, <Plain text={email} />. It holds from their next request on.
      </p>
      <RoleChoice own={own} value={role} onChange={setRole} />
      {userId === user.id && role !== member.role && (
        <p className="border-l-2 border-wait pl-3">
          This is you. Without being an owner, you cannot make yourself one again.
        </p>
      )}
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path={`/api/members/${userId}`}
          body={{ role }}
          isSession
          ts={`await client.members.update('${userId}', { role: '${role}' });`}
          cli={`headrace members update ${quoted(email)} ${role}`}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          Save the role
        </Button>
      </div>
    </Form>
  );
}
