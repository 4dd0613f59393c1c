/** What may be done with a webhook. */
import type { Delivery, Subscription, UpdateWebhookInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { deliveryQuery, webhookQuery, webhooksQuery } from '../../api/hooks-queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Ask } from '../../ui/ask.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Menu } from '../../ui/menu.tsx';
import { notify } from '../../ui/notices.tsx';
import { useIsMounted } from '../../ui/use-is-mounted.ts';
import { NewSecret } from './new-secret.tsx';
import { useTypedWebhook, WebhookForm } from './webhook-form.tsx';

const pathOf = ({ id }: Subscription) => `/api/webhooks/${id}`;

export function WebhookActions({ webhook }: { webhook: Subscription }) {
  const mayUpdate = useMay('webhook:update');
  const mayDelete = useMay('webhook:delete');
  const [over, setOver] = useState<'change' | 'secret' | 'delete' | null>(null);
  const close = () => setOver(null);
  return (
    <>
      {mayUpdate && (
        <>
          <Test webhook={webhook} />
          <Pause webhook={webhook} />
        </>
      )}
      {(mayUpdate || mayDelete) && (
        <Menu
          label="More"
          items={[
            ...(mayUpdate
              ? [
                  { id: 'change', text: 'Change', onAction: () => setOver('change') },
                  { id: 'secret', text: 'New secret', onAction: () => setOver('secret') },
                ]
              : []),
            ...(mayDelete
              ? [{ id: 'delete', text: 'Delete', isDanger: true, onAction: () => setOver('delete') }]
              : []),
          ]}
        />
      )}
      <Dialog title="Change the webhook" wide isOpen={over === 'change'} onClose={close}>
        <Change webhook={webhook} onClose={close} />
      </Dialog>
      {over === 'secret' && <NewSecret webhook={webhook} onClose={close} />}
      <Dialog title="Delete the webhook" isOpen={over === 'delete'} onClose={close}>
        <Delete webhook={webhook} onClose={close} />
      </Dialog>
    </>
  );
}

/** Sends a ping, and opens its delivery. */
function Test({ webhook }: { webhook: Subscription }) {
  const { id: webhookId } = webhook;
  const off = useOffReason();
  const show = useShowDelivery(webhook, 'A test is sent.');
  const write = useWrite({
    intent: `test webhook ${webhookId}`,
    call: (_: null, options) => client.webhooks.test(webhookId, options),
    onDone: show,
  });
  return (
    <>
      <FaultLine fault={write.fault} />
      <AsCode
        method="POST"
        path={`${pathOf(webhook)}/test`}
        ts={`const delivery = await client.webhooks.test('${webhookId}');`}
        cli={`headrace webhooks test ${webhookId}`}
      />
      <Button isPending={write.isSending} offBecause={off} onPress={() => write.send(null)}>
        Send a test
      </Button>
    </>
  );
}

/** Opens a delivery that was just made; `words` say it to those who have gone elsewhere meanwhile. */
export function useShowDelivery(
  { id: webhookId, disabled }: Subscription,
  words: string,
): (made: Delivery) => void {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isHere = useIsMounted();
  return (made) => {
    void queries.invalidateQueries({ queryKey: [...webhookQuery(webhookId).queryKey, 'deliveries'] });
    if (!isHere.current) return notify(words);
    // It is shown alone until the list has it.
    queries.setQueryData(deliveryQuery(webhookId, disabled, made.id).queryKey, made);
    void navigate({
      to: '/organization/webhooks/$webhookId',
      params: { webhookId },
      search: { delivery: made.id },
      resetScroll: false,
    });
  };
}

function useUpdate(webhook: Subscription, onDone: (now: Subscription) => void) {
  const { id } = webhook;
  const queries = useQueryClient();
  return useWrite({
    intent: `change webhook ${id}`,
    call: (body: UpdateWebhookInput, options) => client.webhooks.update(id, body, options),
    onDone: (now) => {
      queries.setQueryData(webhookQuery(id).queryKey, now);
      void queries.invalidateQueries({ queryKey: webhooksQuery().queryKey });
      // What was due is sent at once.
      void queries.invalidateQueries({ queryKey: [...webhookQuery(id).queryKey, 'deliveries'] });
      onDone(now);
    },
  });
}

function Pause({ webhook }: { webhook: Subscription }) {
  const { id, disabled, disabledReason } = webhook;
  const off = useOffReason();
  const write = useUpdate(webhook, (now) =>
    notify(now.disabled ? 'It is paused: events wait.' : 'It is enabled: what is due is sent now.'),
  );
  const body = { disabled: !disabled };
  return (
    <>
      <FaultLine fault={write.fault} />
      <AsCode
        method="PATCH"
        path={pathOf(webhook)}
        body={body}
        ts={`await client.webhooks.update('${id}', { disabled: ${body.disabled} });`}
        cli={`headrace webhooks update ${id} --${disabled ? 'enable' : 'disable'}`}
      />
      <Button
        kind={disabled ? 'primary' : 'plain'}
        isPending={write.isSending}
        offBecause={off}
        onPress={() => write.send(body)}
      >
        {!disabled ? 'Pause' : disabledReason === 'user' ? 'Resume' : 'Enable again'}
      </Button>
    </>
  );
}

function Change({ webhook, onClose }: { webhook: Subscription; onClose: () => void }) {
  const state = useTypedWebhook(webhook);
  const isHere = useIsMounted();
  const write = useUpdate(webhook, () => {
    state.forget();
    notify('Saved. A new URL holds from the next attempt, new types for later events.');
    // Another dialog may be open by now.
    if (isHere.current) onClose();
  });
  return (
    <>
      <WebhookForm state={state} write={write} path={pathOf(webhook)} onClose={onClose} />
      <p className="text-12 text-ink-3">
        The project stays as it is: for another one, create another webhook.
      </p>
    </>
  );
}

function Delete({ webhook, onClose }: { webhook: Subscription; onClose: () => void }) {
  const { id } = webhook;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isHere = useIsMounted();
  const write = useWrite({
    intent: `delete webhook ${id}`,
    call: (_: null, options) => client.webhooks.delete(id, options),
    onDone: () => {
      notify('The webhook is deleted.');
      if (!isHere.current) {
        void queries.resetQueries({ queryKey: webhookQuery(id).queryKey });
        void queries.invalidateQueries({ queryKey: webhooksQuery().queryKey });
        return;
      }
      onClose();
      void navigate({ to: '/organization/webhooks' }).then(() => {
        queries.removeQueries({ queryKey: webhookQuery(id).queryKey });
        return queries.invalidateQueries({ queryKey: webhooksQuery().queryKey });
      });
    },
  });
  return (
    <Ask
      verb="Delete the webhook"
      write={write}
      onClose={onClose}
      code={{
        method: 'DELETE',
        path: pathOf(webhook),
        ts: `await client.webhooks.delete('${id}');`,
        cli: `headrace webhooks delete ${id}`,
      }}
    >
      Nothing more is sent to {webhook.url}, and its deliveries are gone, pending ones too. Nothing brings
      them or the secret back. To stop for a while, pause it.
    </Ask>
  );
}
