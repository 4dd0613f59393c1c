/** Webhook subscriptions and their deliveries as the API takes and shows them. */
import Type from 'typebox';
import type { AttemptError, WebhookDeliveryRow, WebhookSubscriptionRow } from '../db/schema.ts';
import { EVENT_TYPES } from '../events/index.ts';
import { Body, Counter, Enum, Id, IdInput, Nullable, Ok, Text, Time } from '../http/schemas.ts';

/** The event type of a test delivery; it is on no feed. */
export const PING = 'webhook.ping';

/** Webhooks deliver the Direct feed, which never has an app's own events. */
const DELIVERED_TYPES = EVENT_TYPES.filter((type) => !type.startsWith('platform.app.'));
const groupOf = (type: string) => `${type.slice(0, type.lastIndexOf('.'))}.*`;

const Url = Type.String({
  format: 'uri',
  maxLength: 2048,
  examples: ['https://hooks.example.com/headrace'],
  description: 'An https URL with a public address, without a user and without a fragment.',
});
const Types = Type.Array(Enum(['*', ...new Set(DELIVERED_TYPES.map(groupOf)), ...DELIVERED_TYPES]), {
  maxItems: 30,
  examples: [['run.completed', 'thread.*']],
  description:
    'Event types, groups (`run.*`: all types that consist of `run.` and one more word), or `*` for all. An empty list means `*`.',
});
const Disabled = Type.Boolean({
  description: 'A disabled subscription keeps its pending deliveries and sends only test deliveries.',
});

export const NewWebhook = Body(
  {
    url: Url,
    types: Types,
    projectId: Type.Optional(IdInput('prj', 'Only events of this Direct project.')),
    disabled: Type.Optional(Disabled),
  },
  { examples: [{ url: 'https://hooks.example.com/headrace', types: ['run.completed'] }] },
);
export const WebhookChange = Body(
  { url: Type.Optional(Url), types: Type.Optional(Types), disabled: Type.Optional(Disabled) },
  { examples: [{ disabled: true }] },
);

const DISABLED_REASONS = [
  'user',
  'gone',
  'failures',
] as const satisfies WebhookSubscriptionRow['disabled_reason'][];
export const Subscription = Type.Object({
  id: Id('wh'),
  orgId: Id('org'),
  projectId: Nullable(Id('prj')),
  url: Type.String({ examples: ['https://hooks.example.com/headrace'] }),
  types: Type.Array(Type.String(), { examples: [['run.completed', 'thread.*']] }),
  disabled: Type.Boolean({ examples: [false] }),
  disabledReason: Nullable(
    Enum(DISABLED_REASONS, {
      description:
        '`user`: paused by a caller; new events still add deliveries. The service sets the others, and new events then add none: `gone`, the receiver responded with 410; `failures`, every attempt failed for days.',
    }),
  ),
  failingSince: Nullable(
    Type.String({
      ...Time,
      description: 'The first failed attempt since the last success; null after a success.',
    }),
  ),
  createdAt: Time,
  updatedAt: Time,
});
export const SubscriptionWithSecret = Ok({
  subscription: Subscription,
  secret: Type.Optional(
    Text('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3Xk5Zc5jPqE=', {
      description: 'Signs the deliveries (https://www.standardwebhooks.com). Returned only once.',
    }),
  ),
  secretUnavailable: Type.Boolean({
    examples: [false],
    description: 'True in the response to a retry, which cannot return the secret.',
  }),
});

export const DELIVERY_TYPES = [...DELIVERED_TYPES, PING] as const;
export const DELIVERY_STATUSES = [
  'pending',
  'succeeded',
  'failed',
] as const satisfies WebhookDeliveryRow['status'][];
const ATTEMPT_ERRORS = [
  'timeout',
  'connection',
  'tls',
  'address_refused',
  'redirect',
  'status',
] as const satisfies AttemptError[];
const ERROR_CODES = [
  'exhausted',
  'gone',
  'platform_app_event',
  'expired',
  'overflow',
] as const satisfies WebhookDeliveryRow['error_code'][];

const Attempt = Type.Object({
  at: Time,
  durationMs: Counter,
  statusCode: Nullable(Type.Integer({ examples: [503], description: 'Null without a response.' })),
  error: Nullable(
    Enum(ATTEMPT_ERRORS, {
      description:
        'Null: the receiver accepted the delivery. `status`: its response was neither 2xx nor a redirect. `address_refused`: its name resolves to an address that is not public.',
    }),
  ),
  response: Nullable(
    Text('try again later', {
      description: 'The first 1,024 bytes of the response as text; null without a response.',
    }),
  ),
});
export const Delivery = Type.Object({
  id: Id('whd'),
  subscriptionId: Id('wh'),
  eventId: Id('evt', 'Also the `webhook-id` of its requests.'),
  eventType: Text('run.completed'),
  projectId: Nullable(Id('prj')),
  status: Enum(DELIVERY_STATUSES),
  attemptCount: Counter,
  attempts: Type.Array(Attempt, { description: 'The last ten, oldest first.' }),
  nextAttemptAt: Nullable(Time),
  errorCode: Nullable(
    Enum(ERROR_CODES, {
      description:
        'Why it failed. `exhausted`: the last attempt failed. `gone`: the receiver responded with 410. `expired`: it was pending for seven days. `overflow`: more than 100,000 were pending, and it was the oldest.',
    }),
  ),
  redeliveryOf: Nullable(Id('whd')),
  createdAt: Time,
  finishedAt: Nullable(Time),
});
