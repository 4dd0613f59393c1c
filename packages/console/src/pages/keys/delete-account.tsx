import type { Account } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { accountQuery, accountsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { notify } from '../../ui/notices.tsx';
import { Ask } from '../../ui/ask.tsx';

/** Asks before it deletes. */
export function DeleteAccount({ account: { id, name }, onClose }: { account: Account; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const write = useWrite({
    intent: `delete account ${id}`,
    call: (_: null, options) => client.accounts.delete(id, options),
    onDone: async () => {
      onClose();
      notify('The service account is deleted.');
      await navigate({ to: '/organization/keys' });
      queries.removeQueries({ queryKey: accountQuery(id).queryKey });
      void queries.invalidateQueries({ queryKey: accountsQuery().queryKey });
    },
  });
  return (
    <Ask
      write={write}
      verb="Delete the account"
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: `/api/service-accounts/${id}`,
        isSession: true,
        ts: `await client.accounts.delete('${id}');`,
        cli: `headrace keys delete ${id}`,
      }}
    >
      <b className="text-ink">
        <Plain text={name} />
      </b>{' '}
      and all its keys stop working within a second, and open streams end. Nothing brings it back; to stop it
      for a while, disable it.
    </Ask>
  );
}
