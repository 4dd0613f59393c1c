/** Where the organization's events are delivered. */
import type { CreateWebhookInput, Subscription } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { projectChoicesQuery, webhooksQuery } from '../../api/hooks-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { isAll } from './event-types.ts';
import { SecretShown } from './secret-shown.tsx';
import { useTypedWebhook, WebhookForm } from './webhook-form.tsx';
import { reasonOf, stateOf } from './words.ts';

export function WebhooksPage() {
  const webhooks = useInfiniteQuery(webhooksQuery());
  const mayCreate = useMay('webhook:create');
  const [isCreating, setCreating] = useState(false);
  const create = () => setCreating(true);
  useKeys(mayCreate ? [{ keys: 'n', does: 'New webhook', run: create }] : []);
  const items = itemsOf(webhooks.data);
  const isNamed = items.some(({ projectId }) => projectId !== null);
  const projects = useInfiniteQuery({ ...projectChoicesQuery('direct'), enabled: isNamed });
  const nameOf = (id: string) => itemsOf(projects.data).find((project) => project.id === id)?.name ?? null;
  return (
    <Page
      title="Webhooks"
      actions={
        mayCreate && (
          <Button kind="primary" onPress={create}>
            New webhook
          </Button>
        )
      }
    >
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">
        A webhook sends each event of the chosen types to your URL, signed, and tries again for more than a
        day. Events of apps are not delivered: they are on their feeds.
      </p>
      <Shown query={webhooks}>
        {() =>
          items.length === 0 ? (
            <Empty title="No webhooks yet">
              <p>
                With one, your services learn at once when a run ends, a pull request changes or an approval
                is asked for. It needs a URL that takes a POST and answers 2xx.
              </p>
              {mayCreate && <Button onPress={create}>Create the first webhook</Button>}
            </Empty>
          ) : (
            <ul aria-label="Webhooks" className="border-t border-line">
              {items.map((webhook) => (
                <Row
                  key={webhook.id}
                  webhook={webhook}
                  project={webhook.projectId === null ? null : nameOf(webhook.projectId)}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      <ShowMore list={webhooks} />
      <CreateWebhook isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Row({ webhook, project }: { webhook: Subscription; project: string | null }) {
  const { id: webhookId, url, types, projectId, failingSince, createdAt } = webhook;
  const { status, word } = stateOf(webhook);
  const reason = reasonOf(webhook);
  return (
    <li>
      <Link
        data-row
        to="/organization/webhooks/$webhookId"
        params={{ webhookId }}
        className="row flex-wrap gap-y-0 py-1.5"
      >
        <span className="w-22 shrink-0">
          <Status status={status} word={word} />
        </span>
        <span className="min-w-0 flex-[1_1_220px]">
          <span className="long block font-mono text-mono">
            <Plain text={url} />
          </span>
          <span className="long block text-12 text-ink-3">
            {isAll(types) ? 'all events' : types.join(', ')}
            {reason !== null && <span className="text-fail"> · {reason}</span>}
          </span>
        </span>
        <span className="flex basis-full flex-wrap items-center gap-x-3 text-12 text-ink-2 max-sm:pl-25 sm:basis-auto">
          <span className="truncate sm:w-36">
            {projectId === null ? (
              'all projects'
            ) : project === null ? (
              <Id value={projectId} copy={false} />
            ) : (
              <Plain text={project} />
            )}
          </span>
          <span className="max-sm:empty:hidden sm:w-36">
            {failingSince !== null && (
              <span className="text-fail">
                failing since <Time at={failingSince} />
              </span>
            )}
          </span>
          <span className="text-ink-3 max-sm:hidden sm:w-24 sm:text-right">
            <Time at={createdAt} />
          </span>
        </span>
      </Link>
    </li>
  );
}

/** Shows the secret once, then the webhook. */
function CreateWebhook({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<{ id: string; secret: string | null } | null>(null);
  const state = useTypedWebhook(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const write = useWrite({
    intent: 'create a webhook',
    // The answer has a secret.
    isSecret: true,
    call: (body: CreateWebhookInput, options) => client.webhooks.create(body, options),
    onDone: ({ subscription, secret }) => {
      state.forget();
      setMade({ id: subscription.id, secret: secret ?? null });
      void queries.invalidateQueries({ queryKey: webhooksQuery().queryKey });
    },
  });
  const end = () => {
    if (made) void navigate({ to: '/organization/webhooks/$webhookId', params: { webhookId: made.id } });
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      title={made ? 'The webhook’s secret' : 'New webhook'}
      wide
      isOpen={isOpen}
      // An answer that comes after it was closed would have nobody to show its secret to.
      isHeld={made !== null || write.isSending}
      onClose={end}
    >
      {made ? (
        <SecretShown secret={made.secret} onClose={end} />
      ) : (
        <WebhookForm state={state} write={write} path={null} onClose={end} />
      )}
    </Dialog>
  );
}
