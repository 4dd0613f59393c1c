import type { Subscription } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Select } from '../../ui/fields.tsx';
import { SecretShown } from './secret-shown.tsx';

const HOUR = 3600;
const OVERLAPS = [
  { id: '0', text: 'Not at all: it has leaked' },
  { id: String(HOUR), text: 'One hour' },
  { id: String(24 * HOUR), text: 'One day' },
  { id: String(7 * 24 * HOUR), text: 'Seven days' },
];

/** Makes a new secret, and shows it once. Taken away with the secret when it is closed. */
export function NewSecret({ webhook: { id }, onClose }: { webhook: Subscription; onClose: () => void }) {
  const [overlap, setOverlap] = useState(String(24 * HOUR));
  const [made, setMade] = useState<{ secret: string | null } | null>(null);
  const off = useOffReason();
  const body = { overlapSeconds: Number(overlap) };
  const write = useWrite({
    intent: `new secret of webhook ${id}`,
    // The answer has the secret.
    isSecret: true,
    call: (input: { overlapSeconds: number }, options) => client.webhooks.rotateSecret(id, input, options),
    onDone: ({ secret }) => setMade({ secret: secret ?? null }),
  });
  return (
    <Dialog
      title={made ? 'The new secret' : 'New secret'}
      wide={made !== null}
      isOpen
      // An answer that comes after the dialog was closed would take the secret with it.
      isHeld={made !== null || write.isSending}
      onClose={onClose}
    >
      {made ? (
        <SecretShown secret={made.secret} onClose={onClose} />
      ) : (
        <>
          <Select
            label="How long the former secret signs, too"
            choices={OVERLAPS}
            value={overlap}
            onChange={setOverlap}
          />
          <p className="text-ink-2">
            {overlap === '0'
              ? 'From now on, receivers that have only the former secret refuse every delivery.'
              : 'Until then each delivery has both signatures, so a receiver with either secret takes it. Another new secret in that time drops the oldest.'}
          </p>
          <FaultLine fault={write.fault} />
          <div className="flex items-center justify-end gap-2">
            <AsCode
              method="POST"
              path={`/api/webhooks/${id}/secret`}
              body={body}
              ts={`const { secret } = await client.webhooks.rotateSecret('${id}', { overlapSeconds: ${overlap} });`}
              cli={`headrace webhooks rotate-secret ${id} --overlap ${overlap}s > hook.secret`}
            />
            <Button onPress={onClose} isDisabled={write.isSending}>
              Cancel
            </Button>
            <Button
              kind="primary"
              isPending={write.isSending}
              offBecause={off}
              onPress={() => write.send(body)}
            >
              Make a new secret
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
