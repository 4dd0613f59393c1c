import type { Invitation } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { invitationsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Ask } from '../../ui/ask.tsx';
import { notify } from '../../ui/notices.tsx';
import { quoted } from '../../ui/quoted.ts';

/** Asks before it revokes. */
export function RevokeInvitation({
  invitation: { id, email },
  onClose,
}: {
  invitation: Invitation;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const write = useWrite({
    intent: `revoke invitation ${id}`,
    call: (_: null, options) => client.invitations.revoke(id, options),
    onDone: () => {
      notify(`The invitation of ${email} is revoked.`);
      void queries.invalidateQueries({ queryKey: invitationsQuery().queryKey });
      onClose();
    },
  });
  return (
    <Ask
      write={write}
      verb="Revoke the invitation"
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: `/api/invitations/${id}`,
        isSession: true,
        ts: `await client.invitations.revoke('${id}');`,
        cli: `headrace invitations revoke ${quoted(email)}`,
      }}
    >
      The address that <Plain text={email} /> was given no longer works. You can invite them again.
    </Ask>
  );
}
