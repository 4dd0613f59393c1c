/** The writes of automations as the same calls by code. */
import type { CreateAutomationInput, UpdateAutomationInput } from '@headrace/client';
import type { AsCodeProps } from '../../ui/as-code.tsx';
import { quoted } from '../../ui/quoted.ts';

/** What stands in samples for a secret: they are copied, and shown to others. */
export const SECRET_PLACEHOLDER = 'THE SECRET OF THE SENDER';

export const createSample = (body: CreateAutomationInput): AsCodeProps => ({
  method: 'POST',
  path: '/api/automations',
  body,
  ts: () =>
    `const { automation, secret } = await client.automations.create(${JSON.stringify(body, null, 2)});`,
  cli: commandOf(`headrace automations create ${quoted(body.name)}`, beyondDefaults(body), true),
});

export const updateSample = (automationId: string, body: UpdateAutomationInput): AsCodeProps => ({
  method: 'PATCH',
  path: `/api/automations/${automationId}`,
  body,
  ts: () =>
    `const automation = await client.automations.update('${automationId}', ${JSON.stringify(body, null, 2)});`,
  cli: commandOf(`headrace automations update ${automationId}`, body),
});

/** What a new one has if nothing is said. */
const DEFAULTS: Record<string, unknown> = {
  filter: [],
  modelId: null,
  baseBranch: null,
  pullRequest: 'none',
  overlap: 'skip',
  catchUp: true,
  spendLimitMicros: null,
  monthlyLimitMicros: null,
  disableAfterFailures: 5,
};

/** Without the name, too, which is no option of a creation. */
const beyondDefaults = (body: CreateAutomationInput): UpdateAutomationInput =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([field, value]) => field !== 'name' && JSON.stringify(value) !== JSON.stringify(DEFAULTS[field]),
    ),
  );

/** By options, and what no option can say as JSON. */
function commandOf(command: string, { trigger, ...fields }: UpdateAutomationInput, isNew = false): string {
  const words = [command];
  const rest: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const word = optionOf(field, value as Value);
    if (word === null) rest[field] = value;
    else words.push(word);
  }
  if (trigger?.kind === 'schedule')
    words.push(`--cron ${quoted(trigger.cron)}`, `--time-zone ${quoted(trigger.timeZone)}`);
  if (trigger?.kind === 'event') words.push(...trigger.types.map((type) => `--on ${quoted(type)}`));
  if (trigger?.kind === 'webhook') {
    const { secret, ...said } = trigger;
    // Of a stored one, what options do not name would stay.
    if (isNew && !said.defaults) words.push(`--hook ${quoted(said.source ?? 'generic')}`);
    else rest['trigger'] = said;
    if (secret !== undefined) words.push('--hook-secret-file secret.txt');
  }
  if (Object.keys(rest).length === 0) return words.join(' ');
  return `printf %s ${quoted(JSON.stringify(rest))} | ${[...words, '--input -'].join(' ')}`;
}

const OPTIONS: Record<string, string> = {
  projectId: 'project',
  name: 'name',
  prompt: 'prompt',
  modelId: 'model',
  baseBranch: 'base-branch',
  pullRequest: 'pull-request',
  overlap: 'overlap',
  spendLimitMicros: 'spend-limit',
  monthlyLimitMicros: 'monthly-limit',
  disableAfterFailures: 'disable-after',
};

/** Of a field that has an option. */
type Value = string | number | boolean | null;

/** Null: there is none for this value. */
function optionOf(field: string, value: Value): string | null {
  if (field === 'catchUp' && value === false) return '--no-catch-up';
  const option = OPTIONS[field];
  if (option === undefined || value === null) return null;
  return `--${option} ${quoted(field.endsWith('Micros') ? String(Number(value) / 1e6) : String(value))}`;
}
