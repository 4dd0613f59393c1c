import type { CreateAutomationInput } from '@headrace/client';
import { expect, test } from 'vitest';
import { bodyOf, NEW } from './draft.ts';
import { createSample, SECRET_PLACEHOLDER, updateSample } from './samples.ts';

const DRAFT = { ...NEW, projectId: 'prj_1', name: 'Water', prompt: 'It’s dry.', timeZone: 'UTC' };
const created = (part: Partial<typeof DRAFT>, secret: string | null = null) =>
  createSample(bodyOf({ ...DRAFT, ...part }, secret)).cli;
const updated = (body: Parameters<typeof updateSample>[1]) => updateSample('aut_1', body).cli;

test('a new one says by options what is not so by itself', () => {
  expect(created({})).toBe(
    `headrace automations create 'Water' --project 'prj_1' --prompt 'It’s dry.' --cron '0 9 * * MON-FRI' --time-zone 'UTC'`,
  );
  expect(created({ kind: 'event', types: ['run.failed'], catchUp: false, spendLimit: '2.5' })).toBe(
    `headrace automations create 'Water' --project 'prj_1' --prompt 'It’s dry.' --no-catch-up --spend-limit '2.5' --on 'run.failed'`,
  );
  expect(created({ kind: 'webhook' })).toMatch(/ --hook 'generic'$/);
});

test('what no option says is in the JSON, and a secret in neither', () => {
  const hook: Partial<typeof DRAFT> = {
    kind: 'webhook',
    source: 'error_tracker',
    defaults: { ...NEW.defaults, organizationSlug: 'acme' },
    filter: [{ path: 'payload.level', op: 'eq', value: "it's" }],
    disableAfter: '',
  };
  const made = created(hook, SECRET_PLACEHOLDER)!;
  expect(made).not.toContain(SECRET_PLACEHOLDER);
  expect(made).toMatch(
    / \| headrace automations create 'Water' .* --hook-secret-file secret\.txt --input -$/,
  );
  expect(JSON.parse(/^printf %s '(.*)' \|/.exec(made)![1]!.replaceAll(String.raw`'\''`, "'"))).toEqual({
    trigger: { kind: 'webhook', source: 'error_tracker', defaults: { organizationSlug: 'acme' } },
    filter: [{ path: 'payload.level', op: 'eq', value: "it's" }],
    disableAfterFailures: null,
  } satisfies Partial<CreateAutomationInput>);
});

test('a change says what is taken away', () => {
  expect(updated({ pullRequest: 'none', name: 'Dry' })).toBe(
    `headrace automations update aut_1 --pull-request 'none' --name 'Dry'`,
  );
  for (const body of [{ monthlyLimitMicros: null }, { modelId: null }, { catchUp: true }, { filter: [] }])
    expect(updated(body)).toBe(
      `printf %s '${JSON.stringify(body)}' | headrace automations update aut_1 --input -`,
    );
  const trigger = { kind: 'webhook', source: 'error_tracker' } as const;
  expect(updated({ trigger })).toContain(`'{"trigger":${JSON.stringify(trigger)}}' |`);
});
