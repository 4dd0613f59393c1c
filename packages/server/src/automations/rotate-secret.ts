import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newSigningSecret, rotatedSecret, Rotation, sealSigningSecret } from '../signing-secrets.ts';
import { loadAutomation } from './policy.ts';
import { Automation, SecretUnavailable, SigningSecret } from './schemas.ts';
import { PURPOSE } from './secrets.ts';
import { saveAutomation } from './store.ts';
import { automationView } from './view.ts';

export const rotateSecret = write({
  name: 'automations.rotateSecret',
  summary: 'Replace the secret of a hook',
  description:
    'The new secret is returned only once. Until `overlapSeconds` have passed, the old one is valid, too. A second rotation drops the oldest secret.',
  access: { permissions: ['automation:update'] },
  capability: 'automations',
  body: Rotation,
  responses: {
    200: Ok({
      automation: Automation,
      secret: Type.Optional(SigningSecret),
      secretUnavailable: SecretUnavailable,
    }),
  },
  async handle(tx, call) {
    const { ctx, body } = call;
    const { automation, scope } = await loadAutomation(tx.db, call, 'update');
    if (automation.kind !== 'webhook')
      throw new ApiError('conflict', 'Only automations with the trigger webhook have a secret.');
    const secret = newSigningSecret();
    const sealed = sealSigningSecret(ctx.secretKey, PURPOSE, automation, secret);
    const row = await saveAutomation(tx, automation.id, rotatedSecret(automation, sealed, body));
    await audit(tx, call, 'automation.secret_rotated', row.id);
    const shown = { ok: true, automation: automationView(ctx, row) };
    return {
      status: 200,
      scope,
      body: { ...shown, secret, secretUnavailable: false },
      replay: { ...shown, secretUnavailable: true },
    };
  },
});
