import { audit } from '../audit/index.ts';
import { lastSequence } from '../events/index.ts';
import { invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { newId } from '../ids.ts';
import { projectFaults, requireDirectProject, requireRoom } from './policy.ts';
import { receiverUrlFaults } from './receiver-url.ts';
import { NewWebhook, SubscriptionWithSecret } from './schemas.ts';
import { makeSecret, withSecret } from './secrets.ts';
import { insertSubscription } from './store.ts';

export const createWebhook = write({
  name: 'webhooks.createWebhook',
  summary: 'Subscribe an address to events',
  description:
    'Delivers each later event of the given types: events of `projectId`, or without it all events of Direct projects and of the organization. Events of Platform apps are never delivered. A delivery is a POST of the event, signed by the Standard Webhooks specification with `secret`, which is returned only once. An organization has at most 100 webhooks.',
  access: { permissions: ['webhook:create'] },
  capability: 'webhooks',
  body: NewWebhook,
  responses: { 201: SubscriptionWithSecret },
  async handle(tx, call) {
    const { ctx, principal, body } = call;
    const faults = [
      ...receiverUrlFaults(body.url, ctx.config.webhooks.allowPrivate),
      ...projectFaults(principal, body.projectId),
    ];
    if (faults.length) throw invalid(...faults);
    await requireRoom(tx, principal.orgId);
    if (body.projectId !== undefined) await requireDirectProject(tx, call, body.projectId);
    const identity = { org_id: principal.orgId, id: newId('wh') };
    const { secret, sealed } = makeSecret(ctx, identity);
    const row = await insertSubscription(tx, {
      ...identity,
      project_id: body.projectId ?? null,
      url: body.url,
      types: [...new Set(body.types)],
      disabled_reason: body.disabled === true ? 'user' : null,
      secret_sealed: sealed,
      after_sequence: await lastSequence(tx.db),
      created_by: principal.actorId,
    });
    await audit(tx, call, 'webhook.created', row.id);
    return withSecret(201, row, secret);
  },
});
