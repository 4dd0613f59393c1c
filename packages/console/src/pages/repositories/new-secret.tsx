/** A new webhook secret: made here, sent, then shown once. */
import type { Installation } from '@headrace/client';
import { useRef, useState } from 'react';
import { useOffReason } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { useChange } from './use-change.ts';
import { useHold } from './use-hold.ts';
import { WebhookSteps } from './webhook.tsx';

const makeSecret = (): string =>
  [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export function NewSecret({
  installation,
  onHold,
  onClose,
}: {
  installation: Installation;
  onHold: (isHeld: boolean) => void;
  onClose: () => void;
}) {
  const { id } = installation;
  // One for all tries: a lost answer may have been that of a change that was made.
  const secret = useRef<string | null>(null);
  const [made, setMade] = useState<{ installation: Installation; secret: string | null } | null>(null);
  const off = useOffReason();
  const write = useChange({
    installationId: id,
    said: 'The new secret is set.',
    onDone: (changed) => setMade({ installation: changed, secret: secret.current }),
  });
  useHold(onHold, write.isSending || made !== null);
  if (made)
    return (
      <>
        <WebhookSteps {...made} />
        <div className="flex justify-end">
          <Button kind="primary" onPress={onClose}>
            Done
          </Button>
        </div>
      </>
    );
  return (
    <>
      <p className="max-w-[76ch] text-ink-2">
        From then on, deliveries with the old secret are refused until the new one is entered at GitHub.
        Nothing is lost meanwhile, but the service may see pushes, reviews and checks up to ten minutes later.
      </p>
      <FaultLine fault={write.fault} />
      <div className="flex items-center justify-end gap-2">
        <AsCode
          method="PATCH"
          path={`/api/source-control/scm/installations/${id}`}
          body={{ webhookSecret: '…' }}
          isSession
          ts={`await client.scm.updateInstallation('${id}', { webhookSecret });`}
          cli={`headrace installations update ${id} --webhook-secret-file secret.txt`}
        />
        <Button isDisabled={write.isSending} onPress={onClose}>
          Cancel
        </Button>
        <Button
          kind="primary"
          isPending={write.isSending}
          offBecause={off}
          onPress={() => {
            secret.current ??= makeSecret();
            write.send({ webhookSecret: secret.current });
          }}
        >
          Set a new secret
        </Button>
      </div>
    </>
  );
}
