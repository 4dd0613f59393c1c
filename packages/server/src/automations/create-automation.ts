import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { loadProject, scopeOf } from '../projects/index.ts';
import { newSigningSecret, sealSigningSecret } from '../signing-secrets.ts';
import {
  DEFAULTS,
  enabledColumns,
  requireSound,
  settingsColumns,
  storedTrigger,
  triggerColumns,
} from './definition.ts';
import { requireProjectFits } from './policy.ts';
import { Automation, NewAutomation, SecretUnavailable, SigningSecret } from './schemas.ts';
import { PURPOSE } from './secrets.ts';
import { countAutomations, insertAutomation } from './store.ts';
import { automationView } from './view.ts';

const MAX_OF_ORGANIZATION = 200;

export const createAutomation = write({
  name: 'automations.createAutomation',
  summary: 'Create an automation',
  description:
    'Starts work on a schedule, on events of its project, or when another system calls its hook. Each execution creates a thread whose first message is the `prompt`; its threads, messages and pull requests need no further permission. For a hook, the response contains the `secret` that senders authenticate with, once, unless the caller provides its own.',
  access: { permissions: ['automation:create'] },
  capability: 'automations',
  body: NewAutomation,
  responses: {
    201: Ok({
      automation: Automation,
      secret: Type.Optional(SigningSecret),
      secretUnavailable: Type.Optional(SecretUnavailable),
    }),
  },
  before: async ({ ctx, body }) => requireSound(ctx, body),
  async handle(tx, call) {
    const { ctx, principal, body } = call;
    // Locks the organization before the project, in the order of an organization's deletion.
    const count = await countAutomations(tx, principal.orgId);
    const project = await loadProject(tx.db, call, 'share', body.projectId);
    requireProjectFits(project, body);
    if (count >= MAX_OF_ORGANIZATION)
      throw new ApiError(
        'conflict',
        `An organization has at most ${MAX_OF_ORGANIZATION} automations. Delete one first.`,
      );
    const owner = { org_id: project.org_id, id: newId('aut') };
    const trigger = storedTrigger(body.trigger);
    const { secret, isMade } = secretOf(body);
    const enabled = await enabledColumns(tx, ctx, trigger);
    const row = await insertAutomation(tx, {
      ...owner,
      project_id: project.id,
      ...settingsColumns({ ...DEFAULTS, ...body }),
      ...triggerColumns(trigger),
      ...enabled,
      ...(body.disabled === true && { disabled_reason: 'user', next_run_at: null }),
      secret_sealed: secret === null ? null : sealSigningSecret(ctx.secretKey, PURPOSE, owner, secret),
      created_by: principal.actorId,
    });
    if (row.next_run_at) tx.wake('schedules', row.id);
    await audit(tx, call, 'automation.created', row.id);
    const shown = { ok: true, automation: automationView(ctx, row) };
    return {
      status: 201,
      scope: scopeOf(project),
      body: {
        ...shown,
        ...(isMade && { secret }),
        ...(secret !== null && { secretUnavailable: !isMade }),
      },
      ...(isMade && { replay: { ...shown, secretUnavailable: true } }),
    };
  },
});

/** The secret of a hook: the caller's own, or a new one. */
function secretOf({ trigger }: Pick<NewAutomation, 'trigger'>): { secret: string | null; isMade: boolean } {
  if (trigger.kind !== 'webhook') return { secret: null, isMade: false };
  return { secret: trigger.secret ?? newSigningSecret(), isMade: trigger.secret === undefined };
}
