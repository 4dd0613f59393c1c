/** Rules between an automation's fields, and their columns. */
import type { Context } from '../context.ts';
import { databaseNow } from '../clock.ts';
import { json } from '../db/schema.ts';
import type { AutomationRow, AutomationTrigger, FilterRule } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { lastSequence } from '../events/index.ts';
import { isBranchName } from '../git/ref-names.ts';
import { invalid } from '../http/errors.ts';
import { cronFaults, nextTimes, readCron } from './cron.ts';
import { filterFaults } from './filter.ts';
import type { NewAutomation, NewTrigger } from './schemas.ts';
import { templateFaults } from './template.ts';

type Given = Pick<Partial<NewAutomation>, 'prompt' | 'trigger' | 'filter' | 'baseBranch'>;

/** Throws 400 with all faults that the schema cannot express. */
export function requireSound({ config, clock }: Pick<Context, 'config' | 'clock'>, given: Given): void {
  const { prompt, trigger, filter = [], baseBranch } = given;
  const schedule = {
    from: new Date(Date.now() + clock.offsetMs),
    minSeconds: config.automations.minIntervalSeconds,
  };
  const faults = [
    ...(prompt === undefined ? [] : templateFaults('/prompt', prompt)),
    ...(trigger?.kind === 'schedule' ? cronFaults('/trigger', trigger, schedule) : []),
    ...filterFaults('/filter', filter),
    ...(typeof baseBranch === 'string' && !isBranchName(baseBranch)
      ? [{ path: '/baseBranch', message: 'must have at most 255 bytes' }]
      : []),
  ];
  if (faults.length) throw invalid(...faults);
}

/** The trigger as it is stored and shown, without the secret. */
export function storedTrigger(trigger: NewTrigger): AutomationTrigger {
  if (trigger.kind === 'event') return { ...trigger, types: [...new Set(trigger.types)] };
  if (trigger.kind === 'schedule') return trigger;
  const { secret: _, source = 'generic', ...rest } = trigger;
  return { ...rest, source };
}

type Settings = Omit<NewAutomation, 'projectId' | 'trigger' | 'disabled'>;

export const DEFAULTS = {
  filter: [] as FilterRule[],
  modelId: null,
  baseBranch: null,
  pullRequest: 'none',
  overlap: 'skip',
  catchUp: true,
  spendLimitMicros: null,
  monthlyLimitMicros: null,
  disableAfterFailures: 5,
} as const satisfies Partial<Settings>;

/** The columns of all settings except the trigger and `disabled`. */
export const settingsColumns = (given: Required<Settings>) => ({
  name: given.name,
  prompt: given.prompt,
  filter: json(given.filter),
  model_id: given.modelId,
  base_branch: given.baseBranch,
  pull_request: given.pullRequest,
  overlap: given.overlap,
  catch_up: given.catchUp,
  spend_limit_micros: given.spendLimitMicros,
  monthly_limit_micros: given.monthlyLimitMicros,
  disable_after_failures: given.disableAfterFailures,
});

export const triggerColumns = (trigger: AutomationTrigger) => ({
  kind: trigger.kind,
  trigger: json<AutomationTrigger>(trigger),
});

/** The next time of a schedule after `from`; null for other triggers, and if no time is left. */
export const nextRun = (trigger: AutomationTrigger, from: Date): Date | null =>
  trigger.kind === 'schedule' ? (nextTimes(readCron(trigger), from, 1)[0] ?? null) : null;

/** The columns of an automation that is enabled from now on: earlier times and events do not start it. */
export async function enabledColumns(
  tx: Tx,
  ctx: Pick<Context, 'clock'>,
  trigger: AutomationTrigger,
): Promise<Pick<AutomationRow, 'after_sequence' | 'next_run_at'>> {
  const { now } = await tx.db.selectNoFrom(databaseNow(ctx).as('now')).executeTakeFirstOrThrow();
  return { after_sequence: await lastSequence(tx.db), next_run_at: nextRun(trigger, now) };
}
