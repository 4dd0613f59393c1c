/** The webhook of an installation: what to enter at GitHub, and whether it arrives. */
import type { Installation } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { installationQuery } from '../../api/repositories-queries.ts';
import { useIsAdmin } from '../../api/session.ts';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { Copied } from './scm-parts.tsx';

const EVENTS = [
  'Check run',
  'Check suite',
  'Issue comment',
  'Pull request',
  'Pull request review',
  'Pull request review comment',
  'Pull request review thread',
  'Push',
  'Repository',
  'Status',
];

const AWAITED_MS = 2_000;
const IDLE_MS = 15_000;

/** `secret`: while it can be shown; the installation is then as it was when the secret was set. */
export function WebhookSteps({
  installation,
  secret,
}: {
  installation: Installation;
  secret: string | null;
}) {
  const isApp = installation.auth === 'app';
  const mayRenew = useIsAdmin() && installation.managedBy === 'api';
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-[76ch] text-ink-2">
        With a webhook, GitHub tells the service at once of pushes, reviews and checks. Without one everything
        works, later: the service looks at each open pull request once a minute while its review loop is on,
        else every five minutes.
      </p>
      <ol className="flex max-w-[76ch] list-decimal flex-col gap-1.5 pl-5 text-ink-2 marker:text-ink-3">
        <li>
          {isApp
            ? 'At GitHub open the App: General → Webhook, and tick Active.'
            : 'At GitHub open the repository or the organization: Settings → Webhooks → Add webhook.'}
        </li>
        <li>Enter the address and the secret:</li>
      </ol>
      <Copied label={isApp ? 'Webhook URL' : 'Payload URL'} text={installation.webhookUrl ?? ''} />
      {secret === null ? (
        <p className="text-ink-2">
          The secret is not shown again{mayRenew ? ': set a new one if you do not have it' : ''}.
        </p>
      ) : (
        <>
          <Copied label="Secret" text={secret} />
          <p className="text-ink-2">It is shown this once. Copy it before you close this.</p>
        </>
      )}
      <ol
        start={3}
        className="flex max-w-[76ch] list-decimal flex-col gap-1.5 pl-5 text-ink-2 marker:text-ink-3"
      >
        <li>
          {isApp
            ? 'Save. Then under Permissions & events → Subscribe to events tick these and save:'
            : 'Content type: application/json. Choose “Let me select individual events” and tick these:'}
          <ul aria-label="Events" className="mt-1 grid gap-x-6 sm:grid-cols-2">
            {EVENTS.map((event) => (
              <li key={event} className="text-ink">
                {event}
              </li>
            ))}
          </ul>
        </li>
        <li>
          GitHub has to reach that address from the internet. It sends a first delivery when the webhook is
          saved:
        </li>
      </ol>
      {secret === null ? (
        <Arrival installationId={installation.id} />
      ) : (
        <FirstArrival installation={installation} />
      )}
    </div>
  );
}

/** Says when the last delivery has arrived. */
function Arrival({ installationId }: { installationId: string }) {
  const at = useArrival(installationId, IDLE_MS);
  return (
    <p role="status">
      {at === null ? (
        <Status status="pending" word="No delivery has arrived yet" />
      ) : (
        <>
          Last delivery <Time at={at} />
        </>
      )}
    </p>
  );
}

/** While somebody enters a secret at GitHub: one before it says nothing of it. */
function FirstArrival({ installation }: { installation: Installation }) {
  const [before] = useState(installation.webhookReceivedAt);
  const at = useArrival(installation.id, AWAITED_MS);
  return (
    <p role="status">
      {at === null || at === before ? (
        <Status status="pending" word="No delivery with this secret has arrived yet" />
      ) : (
        <Status status="ready" word="Deliveries arrive" />
      )}
    </p>
  );
}

const useArrival = (installationId: string, refetchInterval: number): string | null =>
  useQuery({ ...installationQuery(installationId), refetchInterval }).data?.webhookReceivedAt ?? null;
