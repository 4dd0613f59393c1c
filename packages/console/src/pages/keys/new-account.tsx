import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { accountsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKept } from '../../ui/kept.ts';
import { AccountForm, bodyOf, NEW } from './account-form.tsx';
import { KeyOnce } from './key-once.tsx';
import type { MadeKey } from './key-once.tsx';
import { commandOf } from './permissions.ts';

/**
 * Makes a service account, then shows its first key. What is sent and what came live outside the dialog: closing it
 * loses neither.
 */
export function NewAccount({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [draft, setDraft] = useKept('service account', NEW);
  const [made, setMade] = useState<MadeKey | null>(null);
  const queries = useQueryClient();
  const write = useWrite({
    intent: 'create service account',
    isSecret: true,
    call: (input: ReturnType<typeof bodyOf>, options) => client.accounts.create(input, options),
    onDone: ({ account, credential, key }) => {
      setDraft(NEW);
      setMade({ name: account.name, key: key ?? null, expiresAt: credential.expiresAt });
      void queries.invalidateQueries({ queryKey: accountsQuery().queryKey });
    },
  });
  const end = () => {
    setMade(null);
    onClose();
  };
  const body = bodyOf(draft);
  return (
    <Dialog
      title={made ? 'The key' : 'New service account'}
      wide
      isOpen={isOpen}
      isHeld={made !== null || write.isSending}
      onClose={end}
    >
      {made ? (
        <KeyOnce made={made} isFirst onClose={end} />
      ) : (
        <AccountForm
          draft={draft}
          onChange={setDraft}
          write={write}
          verb="Create the account and its key"
          onClose={end}
          samples={
            <AsCode
              method="POST"
              path="/api/service-accounts"
              body={body}
              isSession
              ts={`const { account, key } = await client.accounts.create(${JSON.stringify(body, null, 2)});`}
              cli={commandOf(`create ${quoted(body.name || 'NAME')}`, draft)}
            />
          }
        />
      )}
    </Dialog>
  );
}
