import type { Account } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { accountQuery, accountsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { notify } from '../../ui/notices.tsx';
import { Ask } from '../../ui/ask.tsx';

export function EnableAccount({
  account: { id, disabled },
  onClose,
}: {
  account: Account;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const body = { disabled: !disabled };
  const write = useWrite({
    intent: `${disabled ? 'enable' : 'disable'} account ${id}`,
    call: (_: null, options) => client.accounts.update(id, body, options),
    onDone: (saved) => {
      queries.setQueryData(accountQuery(id).queryKey, saved);
      void queries.invalidateQueries({ queryKey: accountsQuery().queryKey });
      notify(saved.disabled ? 'Its keys are refused now.' : 'Its keys are accepted again.');
      onClose();
    },
  });
  return (
    <Ask
      write={write}
      verb={disabled ? 'Enable the account' : 'Disable the account'}
      isDanger={!disabled}
      onClose={onClose}
      code={{
        method: 'PATCH',
        path: `/api/service-accounts/${id}`,
        body,
        isSession: true,
        ts: `await client.accounts.update('${id}', { disabled: ${!disabled} });`,
        cli: `headrace keys update ${id} ${disabled ? '--enable' : '--disable'}`,
      }}
    >
      {disabled
        ? 'Its keys that are neither revoked nor expired are accepted again at once.'
        : 'All its keys are refused within a second, and open streams end. You can enable it again.'}
    </Ask>
  );
}
