import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createWebhook } from './create-webhook.ts';
import { deleteWebhook } from './delete-webhook.ts';
import { getDelivery } from './get-delivery.ts';
import { getWebhook } from './get-webhook.ts';
import { listDeliveries } from './list-deliveries.ts';
import { listWebhooks } from './list-webhooks.ts';
import { redeliver } from './redeliver.ts';
import { rotateSecret } from './rotate-secret.ts';
import { testWebhook } from './test-webhook.ts';
import { updateWebhook } from './update-webhook.ts';

const WEBHOOK = '/webhooks/:webhookId';
const DELIVERY = `${WEBHOOK}/deliveries/:deliveryId`;

export const routes: Route[] = [
  directRoute('POST', '/webhooks', createWebhook),
  directRoute('GET', '/webhooks', listWebhooks),
  directRoute('GET', WEBHOOK, getWebhook),
  directRoute('PATCH', WEBHOOK, updateWebhook),
  directRoute('DELETE', WEBHOOK, deleteWebhook),
  directRoute('POST', `${WEBHOOK}/secret`, rotateSecret),
  directRoute('POST', `${WEBHOOK}/test`, testWebhook),
  directRoute('GET', `${WEBHOOK}/deliveries`, listDeliveries),
  directRoute('GET', DELIVERY, getDelivery),
  directRoute('POST', `${DELIVERY}/redeliver`, redeliver),
];
