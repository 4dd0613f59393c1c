/** How another system calls the hook of an automation. */
import type { Automation } from '@headrace/client';
import type { ReactNode } from 'react';
import { quoted } from '../../ui/as-code.tsx';
import { CopyButton } from '../../ui/values.tsx';

const SENDERS: [string, string][] = [
  ['Any, with the secret', 'Authorization: Bearer <secret>'],
  ['Any, by Standard Webhooks', 'webhook-id, webhook-timestamp, webhook-signature; at most five minutes old'],
  ['Sentry', 'Sentry-Hook-Signature: hex HMAC-SHA256 of the body'],
  ['Linear', 'Linear-Signature: hex HMAC-SHA256 of the body'],
  ['GitHub', 'X-Hub-Signature-256: sha256= and the hex HMAC-SHA256 of the body'],
];

/** The sample has the secret in a variable: it is copied, and shown to others. */
const sampleOf = (url: string) =>
  [
    `curl ${quoted(url)}`,
    '  -H "authorization: Bearer $SECRET"',
    '  -H "idempotency-key: $(uuidgen)"',
    `  -H 'content-type: application/json'`,
    `  -d '{"service":"shop"}'`,
  ].join(' \\\n');

/** Shown once, after it was made: a secret is in no storage, and gone with the dialog. */
export function HookSecret({ secret, children }: { secret: string | null; children: ReactNode }) {
  return secret === null ? (
    <p className="long text-ink-2">
      The answer came without the secret. Replace the secret on the automation’s page to get one.
    </p>
  ) : (
    <>
      <p className="long text-ink-2">{children}</p>
      <p className="flex items-center gap-2 rounded bg-sunk p-2">
        <code aria-label="Secret" className="long flex-1 font-mono text-mono">
          {secret}
        </code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
    </>
  );
}

export function HookHelp({ automation }: { automation: Automation }) {
  const url = automation.hookUrl;
  if (url === null) return null;
  const sample = sampleOf(url);
  return (
    <div className="flex flex-col gap-3">
      <div>
        <span className="label">Address of the hook</span>
        <p className="flex items-center gap-2">
          <code className="long font-mono text-mono">{url}</code>
          <CopyButton text={url} label="Copy the address" />
        </p>
      </div>
      <div>
        <span className="label">A call proves its sender by one of these</span>
        <dl className="grid gap-x-4 sm:grid-cols-[max-content_minmax(0,1fr)]">
          {SENDERS.map(([sender, proof]) => (
            <div key={sender} className="contents">
              <dt className="text-ink-2">{sender}</dt>
              <dd className="long pb-1 font-mono text-mono">{proof}</dd>
            </div>
          ))}
        </dl>
      </div>
      <div>
        <div className="flex items-center justify-between">
          <span className="label">A call, with the secret in $SECRET</span>
          <CopyButton text={sample} label="Copy the call" />
        </div>
        <pre
          tabIndex={0}
          aria-label="Sample call"
          className="overflow-x-auto rounded bg-sunk p-2 font-mono text-mono"
        >
          {sample}
        </pre>
      </div>
    </div>
  );
}
