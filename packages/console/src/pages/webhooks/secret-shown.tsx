import { Sample } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/values.tsx';

const VERIFY = `import { verifyWebhook } from '@headrace/client/webhooks';

// \`body\` is the raw text or bytes. Throws a WebhookError unless the request is signed with the secret.
const event = await verifyWebhook(process.env.WEBHOOK_SECRET, request.headers, body);`;

/** The only time that a secret is shown; null: its answer was lost on the way. */
export function SecretShown({ secret, onClose }: { secret: string | null; onClose: () => void }) {
  return (
    <>
      {secret === null ? (
        <p className="text-ink-2">
          The first answer was lost, and with it the secret: it is never shown a second time. Make a new one
          with “New secret” on the webhook’s page.
        </p>
      ) : (
        <>
          <p className="text-ink-2">
            It signs each delivery. Store it where the receiver reads its secrets: nobody is shown it again.
          </p>
          <div>
            <span className="label">Secret</span>
            <p className="flex items-center gap-1 rounded bg-sunk py-0.5 pl-2">
              <code aria-label="Secret" className="long grow font-mono text-mono">
                {secret}
              </code>
              <CopyButton text={secret} label="Copy the secret" />
            </p>
          </div>
          <Sample name="In the receiver" text={VERIFY} />
          <p className="text-12 text-ink-3">
            Any library of Standard Webhooks verifies the same signatures. Answer with 2xx at once, and keep{' '}
            <code className="font-mono">webhook-id</code>: the same event may come twice.
          </p>
        </>
      )}
      <div className="flex justify-end">
        <Button kind="primary" autoFocus onPress={onClose}>
          {secret === null ? 'Close' : 'I have stored it'}
        </Button>
      </div>
    </>
  );
}
