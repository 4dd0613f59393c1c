import type { Account } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { credentialsQuery } from '../../api/team-queries.ts';
import { useWrite } from '../../api/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Ask } from '../../ui/ask.tsx';
import { KeyOnce } from './key-once.tsx';
import type { MadeKey } from './key-once.tsx';

const DAY = 86_400;
const LIVES = [
  { id: '1', text: '1 day' },
  { id: '30', text: '30 days' },
  { id: '90', text: '90 days' },
  { id: '365', text: '1 year' },
  { id: '3650', text: '10 years' },
];

/** Adds a key, and shows it. What is sent and what came live outside the dialog: closing it loses neither. */
export function NewKey({
  account: { id },
  isOpen,
  onClose,
}: {
  account: Account;
  isOpen: boolean;
  onClose: () => void;
}) {
  const [days, setDays] = useState('365');
  const [made, setMade] = useState<MadeKey | null>(null);
  const queries = useQueryClient();
  const body = { expiresInSeconds: Number(days) * DAY };
  const write = useWrite({
    intent: `new key of ${id}`,
    isSecret: true,
    call: (input: typeof body, options) => client.credentials.rotate(id, input, options),
    onDone: ({ account, credential, key }) => {
      setMade({ name: account.name, key: key ?? null, expiresAt: credential.expiresAt });
      void queries.invalidateQueries({ queryKey: credentialsQuery(id).queryKey });
    },
  });
  const end = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      title={made ? 'The new key' : 'New key'}
      isOpen={isOpen}
      isHeld={made !== null || write.isSending}
      onClose={end}
    >
      {made ? (
        <KeyOnce made={made} isFirst={false} onClose={end} />
      ) : (
        <Ask
          write={{ ...write, send: () => write.send(body) }}
          verb="Make the key"
          isDanger={false}
          onClose={end}
          code={{
            method: 'POST',
            path: `/api/service-accounts/${id}/credentials`,
            body,
            isSession: true,
            ts: `const { key } = await client.credentials.rotate('${id}', { expiresInSeconds: ${body.expiresInSeconds} });`,
            cli: `headrace keys rotate ${id} --expires-in ${days}d`,
          }}
        >
          <div className="flex flex-col gap-3">
            <p>The keys that are there stay valid until you revoke them, so that nothing stops in between.</p>
            <Select label="Valid for" choices={LIVES} value={days} onChange={setDays} />
          </div>
        </Ask>
      )}
    </Dialog>
  );
}
