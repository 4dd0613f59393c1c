import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createWebhook } from './create-webhook.ts';
import { deleteWebhook } from './delete-webhook.ts';
import { getWebhook } from './get-webhook.ts';
import { listWebhooks } from './list-webhooks.ts';

const WEBHOOK = '/webhooks/:webhookId';

export const routes: Route[] = [
  directRoute('POST', '/webhooks', createWebhook),
  directRoute('GET', '/webhooks', listWebhooks),
  directRoute('GET', WEBHOOK, getWebhook),
  directRoute('DELETE', WEBHOOK, deleteWebhook),
];
