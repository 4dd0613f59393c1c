/** The fields of an automation, from options and `--input`. */
import type { Automation, CreateAutomationInput, UpdateAutomationInput } from '@headrace/client';
import { bodyOf } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { projectNamed } from '../core/ids.ts';
import { atMostOne, readText } from '../core/input.ts';
import { microsOf } from '../terminal/money.ts';

export interface Fields {
  name?: string | undefined;
  project?: string | undefined;
  prompt: string | undefined;
  'prompt-file': string | undefined;
  cron: string | undefined;
  'time-zone': string | undefined;
  on: string[];
  hook?: 'generic' | 'error_tracker' | 'tracker' | undefined;
  'hook-secret-file': string | undefined;
  model: string | undefined;
  'base-branch': string | undefined;
  'pull-request': Automation['pullRequest'] | undefined;
  overlap: Automation['overlap'] | undefined;
  'spend-limit': number | undefined;
  'monthly-limit': number | undefined;
  'disable-after': number | undefined;
  'no-catch-up': boolean;
  disabled?: boolean;
  input: string | undefined;
}
type Trigger = NonNullable<UpdateAutomationInput['trigger']>;
type Schedule = Extract<Trigger, { kind: 'schedule' }>;

export async function creationOf(cli: Cli, fields: Fields): Promise<CreateAutomationInput> {
  const body = await bodyOf<CreateAutomationInput>(cli, fields.input, {
    ...(await commonOf(cli, fields)),
    projectId: fields.project === undefined ? undefined : await projectNamed(cli, fields.project),
    trigger: await triggerOf(cli, fields),
    disabled: fields.disabled || undefined,
  });
  if (body.trigger?.kind !== 'schedule') return body;
  return {
    ...body,
    trigger: { ...body.trigger, timeZone: (body.trigger as Partial<Schedule>).timeZone ?? 'UTC' },
  };
}

/** The service replaces a trigger as a whole, so what the options do not name is read before. */
export async function changeOf(
  cli: Cli,
  fields: Fields,
  read: () => Promise<Automation>,
): Promise<UpdateAutomationInput> {
  const trigger = await triggerOf(cli, fields);
  const body = await bodyOf<UpdateAutomationInput>(cli, fields.input, {
    ...(await commonOf(cli, fields)),
    trigger,
  });
  if (!trigger) return body;
  const { trigger: stored } = await read();
  if (stored.kind !== body.trigger?.kind) return body;
  return { ...body, trigger: { ...stored, ...body.trigger } as Trigger };
}

async function commonOf(cli: Cli, fields: Fields) {
  atMostOne(fields, ['prompt', 'prompt-file']);
  const file = fields['prompt-file'];
  return {
    name: fields.name,
    prompt: file === undefined ? fields.prompt : await readText(cli, file),
    modelId: fields.model,
    baseBranch: fields['base-branch'],
    pullRequest: fields['pull-request'],
    overlap: fields.overlap,
    spendLimitMicros: microsOf(fields['spend-limit']),
    monthlyLimitMicros: microsOf(fields['monthly-limit']),
    disableAfterFailures: fields['disable-after'],
    catchUp: fields['no-catch-up'] ? false : undefined,
  };
}

/** What the options say of it; undefined if they say nothing. */
async function triggerOf(cli: Cli, fields: Fields): Promise<Partial<Trigger> | undefined> {
  atMostOne(fields, ['cron', 'on', 'hook']);
  const { cron, 'time-zone': timeZone, on, hook, 'hook-secret-file': file } = fields;
  if (timeZone !== undefined && (on.length > 0 || hook !== undefined))
    throw usage('--time-zone belongs to a schedule: --cron.');
  if (file !== undefined && (on.length > 0 || cron !== undefined))
    throw usage('--hook-secret-file belongs to a hook: --hook.');
  if (cron !== undefined || timeZone !== undefined)
    return { kind: 'schedule', ...(cron && { cron }), ...(timeZone && { timeZone }) };
  // The service knows the types.
  if (on.length > 0) return { kind: 'event', types: on } as Partial<Trigger>;
  if (hook === undefined && file === undefined) return undefined;
  return {
    kind: 'webhook',
    ...(hook && { source: hook }),
    ...(file !== undefined && { secret: (await readText(cli, file)).trim() }),
  };
}

/** What distinguishes writes; a receipt's key must not depend on a secret, not even on its hash. */
export function withoutSecret(body: UpdateAutomationInput): string {
  const { trigger } = body;
  return JSON.stringify({
    ...body,
    trigger: trigger?.kind === 'webhook' ? { ...trigger, secret: undefined } : trigger,
  });
}
