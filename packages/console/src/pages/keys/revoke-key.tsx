import type { Credential } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { credentialsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { notify } from '../../ui/notices.tsx';
import { Time } from '../../ui/values.tsx';
import { Ask } from '../../ui/ask.tsx';

/** Asks before it revokes, and says whether something still uses it. */
export function RevokeKey({
  credential: { id, accountId, lastUsedAt },
  onClose,
}: {
  credential: Credential;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const write = useWrite({
    intent: `revoke key ${id}`,
    call: (_: null, options) => client.credentials.revoke(accountId, id, options),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: credentialsQuery(accountId).queryKey });
      notify('The key is revoked.');
      onClose();
    },
  });
  return (
    <Ask
      write={write}
      verb="Revoke the key"
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: `/api/service-accounts/${accountId}/credentials/${id}`,
        isSession: true,
        ts: `await client.credentials.revoke('${accountId}', '${id}');`,
        cli: `headrace keys revoke ${accountId} ${id}`,
      }}
    >
      Whatever uses it is refused within a second, for good. It was{' '}
      {lastUsedAt === null ? (
        'never used'
      ) : (
        <>
          last used <Time at={lastUsedAt} />
        </>
      )}
      .
    </Ask>
  );
}
