/** `headrace webhooks …`: subscriptions to events, and their deliveries. */
import type { CreateWebhookInput, Delivery, Subscription, UpdateWebhookInput } from '@headrace/client';
import { bodyOf, requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { pause } from '../core/away.ts';
import { idNamed, projectNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { atMostOne } from '../core/input.ts';
import { showSecret } from '../core/secrets.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { statusColor } from '../terminal/style.ts';
import { ago, dated, lasting } from '../terminal/times.ts';

const webhooksOf = (cli: Cli): Resource<Subscription> => ({
  what: 'webhook',
  prefix: 'wh_',
  listing: 'headrace webhooks list',
  list: (options) => cli.client.webhooks.list(options),
  named: ({ id, url }) => ({ id, label: url }),
});
const webhookNamed = (cli: Cli, text: string) => idNamed(cli, text, webhooksOf(cli));

const stateOf = ({ disabled, disabledReason, failingSince }: Subscription) =>
  disabled
    ? `disabled: ${disabledReason ?? 'user'}`
    : failingSince === null
      ? 'active'
      : `failing since ${ago(failingSince)}`;
const typesOf = ({ types }: Subscription) => (types.length === 0 ? '*' : types.join(' '));

const COLUMNS: readonly Column<Subscription>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'URL', value: ({ url }) => url, color: () => 'bold' },
  { header: 'EVENTS', value: typesOf },
  {
    header: 'STATE',
    value: stateOf,
    color: ({ disabled, failingSince }) => (disabled ? 'gray' : failingSince === null ? 'green' : 'red'),
  },
];

export const listWebhooks = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'subscriptions',
    page: (options) => cli.client.webhooks.list(options),
    columns: COLUMNS,
    empty: 'There are no webhooks yet. → headrace webhooks create URL',
    limit,
  });

const textOf = (cli: Cli, subscription: Subscription) =>
  cli.details([
    ['ID', subscription.id],
    ['URL', subscription.url],
    ['Events', typesOf(subscription)],
    ['Project', subscription.projectId ?? 'all'],
    ['State', stateOf(subscription)],
    ['Created', dated(subscription.createdAt)],
    ['Changed', dated(subscription.updatedAt)],
  ]);

export async function showWebhook(cli: Cli, text: string): Promise<void> {
  const subscription = await cli.client.webhooks.get(await webhookNamed(cli, text), { signal: cli.signal });
  cli.show({ subscription }, () => textOf(cli, subscription));
}

interface WebhookOptions {
  type: string[];
  project: string | undefined;
  disabled: boolean;
  input: string | undefined;
}

export async function createWebhook(
  cli: Cli,
  url: string | undefined,
  options: WebhookOptions,
): Promise<Exit> {
  const body = await bodyOf<CreateWebhookInput>(cli, options.input, {
    url,
    types: options.type.length > 0 ? options.type : undefined,
    projectId: options.project === undefined ? undefined : await projectNamed(cli, options.project),
    disabled: options.disabled || undefined,
  });
  if (body.url === undefined) throw usage('A webhook needs a URL.');
  const full = { ...body, types: body.types ?? [] };
  const made = await cli.write(
    (client) => client.webhooks.create(full, { signal: cli.signal }),
    JSON.stringify(full),
  );
  const { subscription, secret } = made;
  rememberLast(cli, webhooksOf(cli), subscription.id);
  return showSecret(cli, {
    what: 'secret',
    secret,
    document: { ...made },
    about: `Webhook ${subscription.id} sends ${typesOf(subscription)} to ${oneLine(subscription.url)}, signed with this secret.`,
    again: `headrace webhooks rotate-secret ${subscription.id}`,
  });
}

interface WebhookChange {
  'to-url': string | undefined;
  type: string[];
  enable: boolean;
  disable: boolean;
  input: string | undefined;
}

export async function updateWebhook(cli: Cli, text: string, change: WebhookChange): Promise<void> {
  atMostOne(change, ['enable', 'disable']);
  const body = requireChange(
    await bodyOf<UpdateWebhookInput>(cli, change.input, {
      url: change['to-url'],
      types: change.type.length > 0 ? change.type : undefined,
      disabled: change.disable ? true : change.enable ? false : undefined,
    }),
  );
  const id = await webhookNamed(cli, text);
  const subscription = await cli.write(
    (client) => client.webhooks.update(id, body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  cli.show({ subscription }, () => textOf(cli, subscription));
}

export async function deleteWebhook(cli: Cli, text: string): Promise<void> {
  const id = await webhookNamed(cli, text);
  await cli.requireYes(async () => {
    const { url } = await cli.client.webhooks.get(id, { signal: cli.signal });
    return `Delete the webhook to ${oneLine(url)}, with its deliveries?`;
  });
  const subscription = await cli.write((client) => client.webhooks.delete(id, { signal: cli.signal }));
  cli.show({ subscription }, () => `Deleted ${oneLine(subscription.url)}.`);
}

export async function rotateWebhookSecret(
  cli: Cli,
  text: string,
  overlapMs: number | undefined,
): Promise<Exit> {
  const id = await webhookNamed(cli, text);
  const body = overlapMs === undefined ? {} : { overlapSeconds: Math.round(overlapMs / 1000) };
  const made = await cli.write((client) => client.webhooks.rotateSecret(id, body, { signal: cli.signal }));
  return showSecret(cli, {
    what: 'secret',
    secret: made.secret,
    document: { ...made },
    about: `The new secret of ${id}. The one before signs as well for ${lasting(overlapMs ?? 86_400_000)}.`,
    again: `headrace webhooks rotate-secret ${id}`,
  });
}

// Deliveries.

type Attempt = Delivery['attempts'][number];
const outcomeOf = ({ statusCode, error }: Attempt) =>
  error === null || error === 'status' ? String(statusCode) : error;
const lastOutcome = ({ attempts }: Delivery) => {
  const last = attempts.at(-1);
  return last ? outcomeOf(last) : null;
};

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'EVENT', value: ({ eventType }) => eventType },
  {
    header: 'STATUS',
    value: ({ status }) => status,
    color: ({ status }) => (status === 'succeeded' ? 'green' : statusColor(status)),
  },
  { header: 'TRIES', value: ({ attemptCount }) => attemptCount, right: true },
  { header: 'ANSWER', value: lastOutcome },
  { header: 'NEXT', value: ({ nextAttemptAt }) => (nextAttemptAt === null ? '' : ago(nextAttemptAt)) },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];
const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { header: 'WHEN', value: ({ at }) => ago(at) },
  { header: 'TOOK', value: ({ durationMs }) => lasting(durationMs), right: true },
  { header: 'ANSWER', value: outcomeOf, color: ({ error }) => (error === null ? 'green' : 'red') },
  { header: 'BODY', value: ({ response }) => response ?? '' },
];

type EventType = NonNullable<Parameters<Cli['client']['webhooks']['deliveries']>[1]>['eventType'];
interface DeliveryFilters {
  status: Delivery['status'] | undefined;
  type: string | undefined;
  limit: number | undefined;
}

export async function listDeliveries(cli: Cli, text: string, filters: DeliveryFilters): Promise<void> {
  const { status, type, limit } = filters;
  const id = await webhookNamed(cli, text);
  const given = {
    ...(status !== undefined && { status }),
    // The service judges it.
    ...(type !== undefined && { eventType: type as NonNullable<EventType> }),
  };
  await cli.list({
    member: 'deliveries',
    page: (options) => cli.client.webhooks.deliveries(id, { ...options, ...given }),
    columns: DELIVERY_COLUMNS,
    filters: given,
    empty: `There are no deliveries yet. → headrace webhooks test ${id}`,
    limit,
  });
}

const deliveryNamed = (cli: Cli, webhookId: string, text: string) =>
  idNamed<Delivery>(cli, text, {
    what: 'delivery',
    prefix: 'whd_',
    listing: `headrace webhooks deliveries ${webhookId}`,
    list: (options) => cli.client.webhooks.deliveries(webhookId, options),
    named: ({ id, eventType }) => ({ id, label: eventType }),
  });

const deliveryText = (cli: Cli, delivery: Delivery) =>
  [
    cli.details([
      ['ID', delivery.id],
      ['Event', `${delivery.eventType} ${delivery.eventId}`],
      ['Status', delivery.status + (delivery.errorCode === null ? '' : `: ${delivery.errorCode}`)],
      ['Next attempt', dated(delivery.nextAttemptAt) ?? undefined],
      ['Repeats', delivery.redeliveryOf ?? undefined],
      ['Created', dated(delivery.createdAt)],
    ]),
    ...(delivery.attempts.length > 0 ? [cli.table(delivery.attempts, ATTEMPT_COLUMNS)] : []),
  ].join('\n\n');

export async function showDelivery(cli: Cli, text: string, which: string): Promise<void> {
  const webhookId = await webhookNamed(cli, text);
  const id = await deliveryNamed(cli, webhookId, which);
  const delivery = await cli.client.webhooks.delivery(webhookId, id, { signal: cli.signal });
  cli.show({ delivery }, () => deliveryText(cli, delivery));
}

interface Waiting {
  'no-wait': boolean;
  timeout: number | undefined;
}

export async function testWebhook(cli: Cli, text: string, waiting: Waiting): Promise<Exit> {
  const webhookId = await webhookNamed(cli, text);
  const delivery = await cli.write((client) => client.webhooks.test(webhookId, { signal: cli.signal }));
  return finishDelivery(cli, delivery, waiting);
}

export async function redeliver(cli: Cli, text: string, which: string, waiting: Waiting): Promise<Exit> {
  const webhookId = await webhookNamed(cli, text);
  const id = await deliveryNamed(cli, webhookId, which);
  const delivery = await cli.write((client) =>
    client.webhooks.redeliver(webhookId, id, { signal: cli.signal }),
  );
  return finishDelivery(cli, delivery, waiting);
}

const WAIT_MS = 30_000;
const PAUSE_MS = 250;

/** Waits for the first attempt: whether the receiver takes it is what the caller wants to know. */
async function finishDelivery(cli: Cli, first: Delivery, waiting: Waiting): Promise<Exit> {
  const { timeout: waitMs = WAIT_MS } = waiting;
  const deadline = Date.now() + waitMs;
  let delivery = first;
  while (!waiting['no-wait'] && delivery.status === 'pending' && delivery.attempts.length === 0) {
    if (Date.now() > deadline)
      throw new Fault(EXIT.timeout, `${delivery.id} was not sent within ${lasting(waitMs)}.`, {
        hint: `headrace webhooks delivery ${delivery.subscriptionId} ${delivery.id}`,
      });
    await pause(PAUSE_MS, cli.signal);
    delivery = await cli.client.webhooks.delivery(delivery.subscriptionId, delivery.id, {
      signal: cli.signal,
    });
  }
  cli.show({ delivery }, () => deliveryText(cli, delivery));
  return delivery.attempts.at(-1)?.error ? EXIT.failed : EXIT.done;
}
