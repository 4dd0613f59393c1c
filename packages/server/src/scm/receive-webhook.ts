/**
 * Deliveries of a provider. What they say is a hint: what they name is looked at. A wrong signature and an
 * unknown installation take the same time and get the same answer.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import Type from 'typebox';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { InstallationRow } from '../db/schema.ts';
import { requireCapability } from '../http/capabilities.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { plain } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { keyFor } from '../sealing.ts';
import { openWebhookSecret } from './credentials.ts';
import { lookSoon } from './look-soon.ts';
import { providerOf } from './providers.ts';
import { noteWebhook, takeDelivery } from './store.ts';
import { syncSoon } from './sync-soon.ts';

const MAX_BODY = 25 * 1024 * 1024;
const MAX_DELIVERY_ID = 200;

export const receiveWebhook = plain({
  name: 'scm.receiveWebhook',
  summary: 'Receive a webhook delivery from a source control host',
  description:
    'Called by the host itself: the signature in `X-Hub-Signature-256` authenticates it. A delivery id seen in the last seven days is a duplicate and has no effect.',
  access: 'public',
  rawBody: ['application/json', 'application/x-www-form-urlencoded'],
  bodyLimit: MAX_BODY,
  responses: { 202: Ok({ duplicate: Type.Boolean() }) },
  errors: [401, 402, 501],
  async handle({ ctx, params, headers, bytes }) {
    const installation = await authenticate(ctx, params.installationId!, {
      signature: headers['x-hub-signature-256'],
      bytes,
    });
    requireCapability(ctx.config, installation, 'sourceControl');
    const deliveryId = headers['x-github-delivery'];
    if (typeof deliveryId !== 'string' || deliveryId === '' || deliveryId.length > MAX_DELIVERY_ID)
      throw invalid({ path: '/headers/x-github-delivery', message: 'is required' });
    const hint = providerOf(installation).readWebhook(headers, bytes);
    const isFirst = await transaction(ctx, async (tx) => {
      if (!(await takeDelivery(tx, installation.id, deliveryId))) return false;
      await noteWebhook(tx, installation.id);
      if (hint?.isInstallation) await syncSoon(tx, installation);
      if (!hint?.repository) return true;
      const { externalId, moved } = hint.repository;
      const repository = await tx.db
        .selectFrom('repositories')
        .select(['id', 'org_id'])
        .where('org_id', '=', installation.org_id)
        .where('provider', '=', installation.provider)
        .where('base_url', '=', installation.base_url ?? '')
        .where('external_id', '=', externalId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (repository) for (const one of moved.length ? moved : [{}]) await lookSoon(tx, repository, one);
      return true;
    });
    return { status: 202, body: { ok: true, duplicate: !isFirst } };
  },
});

async function authenticate(
  ctx: Context,
  id: string,
  { signature, bytes }: { signature: string | string[] | undefined; bytes: Buffer },
): Promise<InstallationRow & { without: string[] }> {
  const installation = await ctx.db
    .selectFrom('installations as i')
    .innerJoin('organizations as o', 'o.id', 'i.org_id')
    .selectAll('i')
    .select('o.without')
    .where('i.id', '=', id)
    .where('i.deleted_at', 'is', null)
    .executeTakeFirst();
  const secret = installation ? openWebhookSecret(ctx.secretKey, installation) : null;
  // An unknown one is compared with a secret that nobody has.
  const key = secret ?? keyFor(ctx.secretKey, 'webhooks of unknown installations');
  const right = Buffer.from(`sha256=${createHmac('sha256', key).update(bytes).digest('hex')}`);
  const given = Buffer.from(typeof signature === 'string' ? signature : '');
  const isSigned = given.length === right.length && timingSafeEqual(given, right);
  if (!installation || secret === null || !isSigned)
    throw new ApiError('unauthorized', 'The signature is wrong or missing. Check the webhook secret.');
  return installation;
}
