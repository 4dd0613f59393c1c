import { Sample } from '../../ui/as-code.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';

const VERIFY = `import { verifyWebhook } from '@headrace/client/webhooks';

// \`body\` is the raw text or bytes. Throws a WebhookError unless the request is signed with the secret.
const event = await verifyWebhook(process.env.WEBHOOK_SECRET, request.headers, body);`;

/** The only time that a secret is shown; null: its answer was lost on the way. */
export function SecretShown({ secret, onClose }: { secret: string | null; onClose: () => void }) {
  return (
    <ShownOnce label="Secret" secret={secret} onClose={onClose}>
      {secret === null ? (
        <p>
          The first answer was lost, and with it the secret: it is never shown a second time. Make a new one
          with “New secret” on the webhook’s page.
        </p>
      ) : (
        <>
          <p>
            It signs each delivery. Store it where the receiver reads its secrets: nobody is shown it again.
          </p>
          <Sample name="In the receiver" text={VERIFY} />
          <p className="text-12 text-ink-3">
            Any library of Standard Webhooks verifies the same signatures. Answer with 2xx at once, and keep{' '}
            <code className="font-mono">webhook-id</code>: the same event may come twice.
          </p>
        </>
      )}
    </ShownOnce>
  );
}
