import type { Account } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { accountQuery, accountsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { notify } from '../../ui/notices.tsx';
import { AccountForm, bodyOf, draftOf } from './account-form.tsx';
import { commandOf } from './permissions.ts';

/** Who saves an account answers for it, so what is saved is all of it, also where nothing is changed. */
export function ChangeAccount({ account, onClose }: { account: Account; onClose: () => void }) {
  const { id } = account;
  const [draft, setDraft] = useState(() => draftOf(account));
  const queries = useQueryClient();
  const write = useWrite({
    intent: `change account ${id}`,
    call: (input: ReturnType<typeof bodyOf>, options) => client.accounts.update(id, input, options),
    onDone: (saved) => {
      queries.setQueryData(accountQuery(id).queryKey, saved);
      void queries.invalidateQueries({ queryKey: accountsQuery().queryKey });
      notify('Saved. It holds for the next request of its keys.');
      onClose();
    },
  });
  const body = bodyOf(draft);
  const reach = draft.projectIds === null ? ' --all-apps' : '';
  return (
    <AccountForm
      draft={draft}
      onChange={setDraft}
      write={write}
      verb="Save"
      onClose={onClose}
      samples={
        <AsCode
          method="PATCH"
          path={`/api/service-accounts/${id}`}
          body={body}
          isSession
          ts={`await client.accounts.update('${id}', ${JSON.stringify(body, null, 2)});`}
          cli={commandOf(`update ${id} --name ${quoted(body.name)}${reach}`, draft)}
        />
      }
    />
  );
}
