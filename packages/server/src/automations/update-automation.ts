import type { Static } from 'typebox';
import { audit } from '../audit/index.ts';
import type { Context } from '../context.ts';
import type { AutomationRow, AutomationTrigger } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { caughtUp } from '../events/index.ts';
import { invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { sealSigningSecret } from '../signing-secrets.ts';
import { cancelQueued } from './cancel-queued.ts';
import {
  enabledColumns,
  requireSound,
  settingsColumns,
  storedTrigger,
  triggerColumns,
} from './definition.ts';
import { loadAutomation, requireProjectFits } from './policy.ts';
import { Automation, AutomationChange } from './schemas.ts';
import { PURPOSE } from './secrets.ts';
import { isByEvents, saveAutomation } from './store.ts';
import { automationView } from './view.ts';

type Change = Static<typeof AutomationChange>;

export const updateAutomation = write({
  name: 'automations.updateAutomation',
  summary: 'Change an automation',
  description:
    'Changes only the given fields. `trigger` is replaced as a whole, but its `kind` cannot change, and an omitted `secret` is kept. `disabled: true` cancels queued executions. `disabled: false` clears `disabledReason` and `consecutiveFailures`; only later times and events count.',
  access: { permissions: ['automation:update'] },
  capability: 'automations',
  body: AutomationChange,
  responses: { 200: Ok({ automation: Automation }) },
  async before({ ctx, principal, params, body }) {
    requireSound(ctx, body);
    const { trigger, filter, disabled } = body;
    // Events before the call are matched with the automation's old state.
    if ((trigger ?? filter ?? disabled) !== undefined && (await isByEvents(ctx.db, principal, params)))
      await caughtUp(ctx, 'automations');
  },
  async handle(tx, call) {
    const { ctx, body } = call;
    const { automation, project, scope } = await loadAutomation(tx.db, call, 'update');
    if (body.trigger !== undefined && body.trigger.kind !== automation.kind)
      throw invalid({ path: '/trigger/kind', message: 'cannot change' });
    requireProjectFits(project, body);
    const row = await saveAutomation(tx, automation.id, {
      ...settingsColumns({ ...automationView(ctx, automation), ...body }),
      ...triggerChange(ctx, automation, body),
      ...(await stateChange(tx, ctx, automation, body)),
    });
    if (row.next_run_at?.getTime() !== automation.next_run_at?.getTime()) tx.wake('schedules', row.id);
    if (row.disabled_reason !== null && automation.disabled_reason === null)
      await cancelQueued(tx, { automation, scope });
    await audit(tx, call, 'automation.updated', row.id);
    return { status: 200, scope, body: { ok: true, automation: automationView(ctx, row) } };
  },
});

/** An omitted secret is kept; a given one replaces all valid secrets. */
function triggerChange({ secretKey }: Pick<Context, 'secretKey'>, row: AutomationRow, { trigger }: Change) {
  if (trigger === undefined) return {};
  const secret = trigger.kind === 'webhook' ? trigger.secret : undefined;
  return {
    ...triggerColumns(storedTrigger(trigger)),
    ...(secret !== undefined && {
      secret_sealed: sealSigningSecret(secretKey, PURPOSE, row, secret),
      former_secret_sealed: null,
      former_secret_until: null,
    }),
  };
}

type StateColumn = 'disabled_reason' | 'consecutive_failures' | 'next_run_at' | 'after_sequence';

/** The columns for enabling and disabling. An unchanged schedule keeps its next time. */
async function stateChange(
  tx: Tx,
  ctx: Pick<Context, 'clock'>,
  before: AutomationRow,
  { trigger, disabled }: Change,
): Promise<Pick<Partial<AutomationRow>, StateColumn>> {
  const wasDisabled = before.disabled_reason !== null;
  if (disabled ?? wasDisabled)
    return { disabled_reason: before.disabled_reason ?? 'user', next_run_at: null };
  const current = trigger ? storedTrigger(trigger) : before.trigger;
  const cleared = disabled === false ? { consecutive_failures: 0 } : {};
  if (!wasDisabled && isSameSchedule(before.trigger, current)) return cleared;
  const { next_run_at, ...place } = await enabledColumns(tx, ctx, current);
  return { ...cleared, next_run_at, ...(wasDisabled ? { ...place, disabled_reason: null } : {}) };
}

const isSameSchedule = (a: AutomationTrigger, b: AutomationTrigger): boolean =>
  a.kind !== 'schedule' || (b.kind === 'schedule' && a.cron === b.cron && a.timeZone === b.timeZone);
