/** `headrace automations …`: work that starts by itself. */
import type { Automation } from '@headrace/client';
import { requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { usage } from '../core/fault.ts';
import { idNamed, projectNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { showSecret } from '../core/secrets.ts';
import { oneLine } from '../terminal/escape.ts';
import { usd } from '../terminal/money.ts';
import type { Column } from '../terminal/table.ts';
import { ago, dated, lasting } from '../terminal/times.ts';
import { changeOf, creationOf, withoutSecret } from './fields.ts';
import type { Fields } from './fields.ts';

const automationsOf = (cli: Cli): Resource<Automation> => ({
  what: 'automation',
  prefix: 'aut_',
  listing: 'headrace automations list',
  list: (options) => cli.client.automations.list(options),
  named: ({ id, name }) => ({ id, label: name }),
});
export const automationNamed = (cli: Cli, text: string) => idNamed(cli, text, automationsOf(cli));

function triggerOf({ trigger }: Automation): string {
  if (trigger.kind === 'schedule') return `${trigger.cron} ${trigger.timeZone}`;
  if (trigger.kind === 'event') return `on ${trigger.types.join(', ')}`;
  return trigger.source === 'generic' ? 'hook' : `hook of ${trigger.source}`;
}
function stateOf({ disabled, disabledReason, consecutiveFailures }: Automation): string {
  if (disabled) return disabledReason === 'failures' ? 'disabled after failures' : 'disabled';
  return consecutiveFailures === 0 ? 'enabled' : `enabled, ${consecutiveFailures} failed in a row`;
}
const stateColor = ({ disabled, consecutiveFailures }: Automation) =>
  disabled ? 'gray' : consecutiveFailures === 0 ? 'green' : 'yellow';

const COLUMNS: readonly Column<Automation>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  { header: 'STARTS', value: triggerOf },
  { header: 'STATE', value: stateOf, color: stateColor },
  { header: 'LAST', value: ({ lastExecutionAt }) => ago(lastExecutionAt) },
  { header: 'NEXT', value: ({ nextRunAt }) => ago(nextRunAt) },
];

interface Filters {
  project: string | undefined;
  limit: number | undefined;
}

export async function listAutomations(cli: Cli, { project, limit }: Filters): Promise<void> {
  const given = project === undefined ? {} : { projectId: await projectNamed(cli, project) };
  await cli.list({
    member: 'automations',
    page: (options) => cli.client.automations.list({ ...options, ...given }),
    columns: COLUMNS,
    filters: given,
    empty: 'There are no automations yet. → headrace automations create --help',
    limit,
  });
}

const textOf = (cli: Cli, automation: Automation) =>
  cli.details([
    ['ID', automation.id],
    ['Name', automation.name, 'bold'],
    ['Starts', triggerOf(automation)],
    ['Hook', automation.hookUrl ?? undefined],
    ['State', stateOf(automation), stateColor(automation)],
    ['Next', dated(automation.nextRunAt) ?? undefined],
    ['Last', dated(automation.lastExecutionAt) ?? 'never'],
    ['Project', automation.projectId],
    ['Branch', automation.baseBranch ?? undefined],
    ['Model', automation.modelId ?? 'that of the project'],
    ['Pull request', automation.pullRequest],
    ['If one is open', automation.overlap],
    ['Per thread', automation.spendLimitMicros === null ? undefined : usd(automation.spendLimitMicros)],
    ['Per month', automation.monthlyLimitMicros === null ? undefined : usd(automation.monthlyLimitMicros)],
    ['Filter', automation.filter.length === 0 ? undefined : JSON.stringify(automation.filter)],
    ['Prompt', automation.prompt],
  ]);

export async function showAutomation(cli: Cli, text: string): Promise<void> {
  const automation = await cli.client.automations.get(await automationNamed(cli, text), {
    signal: cli.signal,
  });
  cli.show({ automation }, () => textOf(cli, automation));
}

export async function createAutomation(cli: Cli, name: string | undefined, fields: Fields): Promise<Exit> {
  const body = await creationOf(cli, { ...fields, name });
  if (!body.name || !body.projectId || !body.prompt || !body.trigger)
    throw usage(
      'An automation needs a NAME, --project, --prompt (or --prompt-file), and one of --cron, --on and --hook.',
    );
  const made = await cli.write(
    (client) => client.automations.create(body, { signal: cli.signal }),
    withoutSecret(body),
  );
  const { automation, secret } = made;
  rememberLast(cli, automationsOf(cli), automation.id);
  const hasOwnSecret = body.trigger.kind === 'webhook' && body.trigger.secret !== undefined;
  if (automation.trigger.kind !== 'webhook' || hasOwnSecret) {
    cli.show({ ...made }, () => textOf(cli, automation));
    return EXIT.done;
  }
  return showSecret(cli, {
    what: 'secret',
    secret,
    document: { ...made },
    about: `Automation ${automation.id} ${oneLine(automation.name)} starts with calls of ${automation.hookUrl!} that prove this secret.`,
    again: `headrace automations rotate-secret ${automation.id}`,
  });
}

export async function updateAutomation(cli: Cli, text: string, fields: Fields): Promise<void> {
  const id = await automationNamed(cli, text);
  const body = requireChange(
    await changeOf(cli, fields, () => cli.client.automations.get(id, { signal: cli.signal })),
  );
  const automation = await cli.write(
    (client) => client.automations.update(id, body, { signal: cli.signal }),
    withoutSecret(body),
  );
  cli.show({ automation }, () => textOf(cli, automation));
}

export async function setDisabled(cli: Cli, text: string, disabled: boolean): Promise<void> {
  const id = await automationNamed(cli, text);
  const automation = await cli.write((client) =>
    client.automations.update(id, { disabled }, { signal: cli.signal }),
  );
  cli.show({ automation }, () => textOf(cli, automation));
}

export async function deleteAutomation(cli: Cli, text: string): Promise<void> {
  const id = await automationNamed(cli, text);
  await cli.requireYes(async () => {
    const { name } = await cli.client.automations.get(id, { signal: cli.signal });
    return `Delete the automation ${oneLine(name)}? Its threads stay.`;
  });
  const automation = await cli.write((client) => client.automations.delete(id, { signal: cli.signal }));
  cli.show({ automation }, () => `Deleted ${oneLine(automation.name)}.`);
}

export async function rotateHookSecret(cli: Cli, text: string, overlapMs: number | undefined): Promise<Exit> {
  const id = await automationNamed(cli, text);
  const body = overlapMs === undefined ? {} : { overlapSeconds: Math.round(overlapMs / 1000) };
  const made = await cli.write((client) => client.automations.rotateSecret(id, body, { signal: cli.signal }));
  return showSecret(cli, {
    what: 'secret',
    secret: made.secret,
    document: { ...made },
    about: `The new secret of ${id}. The one before counts for ${lasting(overlapMs ?? 86_400_000)}.`,
    again: `headrace automations rotate-secret ${id}`,
  });
}

interface Schedule {
  'time-zone': string | undefined;
  from: string | undefined;
  count: number | undefined;
}

export async function previewSchedule(cli: Cli, cron: string, schedule: Schedule): Promise<void> {
  const { 'time-zone': timeZone = 'UTC', from, count } = schedule;
  const times = await cli.client.automations.previewSchedule({
    cron,
    timeZone,
    signal: cli.signal,
    ...(from !== undefined && { from }),
    ...(count !== undefined && { count }),
  });
  const there = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  const columns: Column<string>[] = [
    { header: 'TIME', value: (time) => time, whole: true },
    { header: `IN ${timeZone}`, value: (time) => there.format(new Date(time)) },
    { header: '', value: (time) => ago(time) },
  ];
  cli.show({ times }, () => (times.length === 0 ? 'It has no next time.' : cli.table(times, columns)));
}
