import type { Member } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { membersQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { leaveTo } from '../../app/leave.ts';
import { Plain } from '../../code/plain.tsx';
import { Ask } from '../../ui/ask.tsx';
import { notify } from '../../ui/notices.tsx';
import { quoted } from '../../ui/quoted.ts';

/** Asks before it removes. */
export function RemoveMember({
  member: { userId, email, name },
  onClose,
}: {
  member: Member;
  onClose: () => void;
}) {
  const { user } = useSession();
  const queries = useQueryClient();
  const isSelf = userId === user.id;
  const write = useWrite({
    intent: `remove member ${userId}`,
    call: (_: null, options) => client.members.remove(userId, options),
    onDone: () => {
      if (isSelf) return leaveTo('/console/');
      notify(`${email} is removed.`);
      void queries.invalidateQueries({ queryKey: membersQuery().queryKey });
      onClose();
    },
  });
  return (
    <Ask
      write={write}
      verb={isSelf ? 'Leave the organization' : 'Remove the member'}
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: `/api/members/${userId}`,
        isSession: true,
        ts: `await client.members.remove('${userId}');`,
        cli: `headrace members remove ${quoted(email)}`,
      }}
    >
      {isSelf ? (
        'You leave this organization at once.'
      ) : (
        <>
          <Plain text={name} />, <Plain text={email} />, can do nothing here from their next request on.
        </>
      )}{' '}
      Keys of service accounts that {isSelf ? 'you were' : 'this person was'} the last to save are refused
      until another owner or admin saves them. To come back takes a new invitation.
    </Ask>
  );
}
