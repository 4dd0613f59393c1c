import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';
import { documentOf } from '../documents.fixture.ts';

let s: TestServer;
let projectId: string;
beforeAll(async () => {
  s = await startTestServer();
  projectId = (await s.call('POST', '/api/projects', { name: 'Garden' })).body.project.id;
});
afterAll(() => s?.close());

const signedIn = (): TestCli => testCli({ url: s.base, key: s.key });
const IN_GARDEN = ['--project', '~Garden'];
const PROMPT = ['--prompt', 'Water the plants.\n\n```file plants.txt\nfern\n```\n'];
const NONE = `aut_${'0'.repeat(26)}`;

describe('automations', () => {
  test('a schedule is created, shown, changed, disabled and deleted', async () => {
    const cli = signedIn();
    const line = ['automations', 'create', 'Watering', ...IN_GARDEN, ...PROMPT, '--cron', '0 6 * * MON-FRI'];
    const { automation } = await documentOf(cli, [...line, '--monthly-limit', '2.5']);
    expect(automation).toMatchObject({
      projectId,
      trigger: { kind: 'schedule', cron: '0 6 * * MON-FRI', timeZone: 'UTC' },
      monthlyLimitMicros: 2_500_000,
    });
    const listed = await cli.run(['automations', 'list', ...IN_GARDEN]);
    expect(listed.stdout).toMatch(/\tWatering\t0 6 \* \* MON-FRI UTC\tenabled\t-\t(in |tomorrow)/);
    expect((await documentOf(cli, ['automations', 'list'])).automations).toContainEqual(automation);
    const shown = await cli.run(['automations', 'show', '@last']);
    expect(shown.stdout).toContain('Per month\t$2.50\nPrompt\tWater the plants.');

    const zone = await cli.run(['automations', 'update', '~Watering', '--time-zone', 'Europe/Berlin']);
    expect(zone.stdout).toContain('Starts\t0 6 * * MON-FRI Europe/Berlin\n');
    const body = { spendLimitMicros: 7, overlap: 'allow' };
    const changed = await documentOf(
      cli,
      ['automations', 'update', '~Watering', '--overlap', 'queue', '--input', '-'],
      { stdin: JSON.stringify(body) },
    );
    expect(changed.automation).toMatchObject({ spendLimitMicros: 7, overlap: 'queue' });
    expect((await cli.run(['automations', 'disable', '@last'])).stdout).toContain('State\tdisabled\n');
    expect((await documentOf(cli, ['automations', 'enable', '@last'])).automation.disabled).toBe(false);
    expect((await cli.run(['automations', 'delete', '@last'])).exit).toBe(2);
    await documentOf(cli, ['automations', 'delete', '@last', '--yes']);
    expect((await cli.run(['automations', 'show', automation.id])).exit).toBe(5);
  });

  test('a hook has a secret: the service’s is printed alone, another system’s is kept', async () => {
    const cli = signedIn();
    const line = ['automations', 'create', 'Deployed', ...IN_GARDEN, ...PROMPT];
    const made = await cli.run([...line, '--hook', 'generic']);
    expect([made.exit, made.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
    expect(made.stderr).toMatch(/starts with calls of http\S+\/api\/hooks\/automations\/aut_/);
    const rotated = await cli.run(['automations', 'rotate-secret', '@last', '--overlap', '1h']);
    expect([rotated.exit, rotated.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
    expect((await documentOf(cli, ['automations', 'rotate-secret', '@last'])).secret).toMatch(/^whsec_/);

    writeFileSync(join(cli.cwd, 'client secret'), 'a secret of another system\n');
    const given = ['--hook', 'error_tracker', '--hook-secret-file', 'client secret'];
    const body = { trigger: { defaults: { organizationSlug: 'acme' } } };
    const own = await cli.run([...line, ...given, '--input', '-'], { stdin: JSON.stringify(body) });
    expect([own.exit, own.stderr]).toEqual([0, '']);
    expect(own.stdout).toContain('Starts\thook of error_tracker\n');
    const other = ['automations', 'update', '@last', '--hook-secret-file', '-'];
    const { automation } = await documentOf(cli, other, { stdin: 'yet another secret of it' });
    expect(automation.trigger).toEqual({ kind: 'webhook', source: 'error_tracker', ...body.trigger });
    const files = readdirSync(cli.home, { recursive: true, encoding: 'utf8' })
      .map((name) => join(cli.home, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, 'utf8'))
      .join();
    for (const secret of [made.stdout.trim(), rotated.stdout.trim(), 'another system', 'yet another'])
      expect(files).not.toContain(secret);
  });

  test('runs by hand are waited for, listed and shown; one that fails exits with 1', async () => {
    const cli = signedIn();
    const line = ['automations', 'create', 'Look', ...IN_GARDEN, '--on', 'run.failed', '--disabled'];
    await documentOf(cli, [...line, ...PROMPT]);
    writeFileSync(join(cli.cwd, 'deploy.json'), '{"service":"shop"}');
    const run = ['automations', 'run', '@last', '--payload', 'deploy.json'];
    const done = await cli.run([...run, '--wait', '--timeout', '1m']);
    expect([done.exit, done.stdout]).toEqual([0, expect.stringMatching(/Status\tcompleted\nBy\tmanual\n/)]);
    const { executions } = await documentOf(cli, ['automations', 'executions', '@last']);
    expect(executions).toMatchObject([{ status: 'completed', trigger: { kind: 'manual' } }]);
    const [{ id, threadId }] = executions;
    const listed = await cli.run(['automations', 'executions', '@last', '--status', 'completed']);
    expect(listed.stdout).toMatch(new RegExp(`^${id}\tcompleted\tmanual\tjust now\t.*\t${threadId}\n$`));
    const shown = await cli.run(['automations', 'execution', '@last', id]);
    expect(shown.stdout).toContain('Payload\t{"service":"shop"}\n');
    const { execution } = await documentOf(cli, ['automations', 'execution', '@last', id, '--wait']);
    expect(execution).toMatchObject({ status: 'completed', payload: { service: 'shop' } });

    await documentOf(cli, ['automations', 'update', '@last', '--prompt', '```sh\nexit 3\n```']);
    const failed = await cli.run(['automations', 'run', '@last', '--wait', '--json']);
    expect([failed.exit, failed.json()]).toMatchObject([1, { ok: true, execution: { status: 'failed' } }]);
  });

  test('the next times of a schedule are shown in its zone', async () => {
    const cli = signedIn();
    const line = [
      'automations',
      'preview-schedule',
      '30 2 * * *',
      '--time-zone',
      'Europe/Berlin',
      '--count',
      '2',
    ];
    const { stdout } = await cli.run([...line, '--from', '2027-03-27T12:00:00Z']);
    expect(stdout).toMatch(
      /^2027-03-28T01:00:00.000Z\tSunday,? 28 March 2027 at 03:00\t.*\n2027-03-29T00:30:00.000Z\tMonday/,
    );
    expect((await documentOf(cli, line)).times).toHaveLength(2);
    const bad = await cli.run(['automations', 'preview-schedule', '61 * * * *']);
    expect([bad.exit, bad.stderr]).toEqual([2, expect.stringContaining('/query/cron')]);
  });

  test.each([
    [['create', 'x', ...IN_GARDEN, ...PROMPT], 2, 'one of --cron, --on and --hook'],
    [
      ['create', 'x', ...IN_GARDEN, ...PROMPT, '--cron', '@daily', '--on', 'run.failed'],
      2,
      '--cron and --on exclude',
    ],
    [
      ['create', 'x', ...PROMPT, '--prompt-file', '-', '--cron', '@daily'],
      2,
      '--prompt and --prompt-file exclude',
    ],
    [
      ['create', 'x', ...PROMPT, '--hook', 'tracker', '--time-zone', 'UTC'],
      2,
      'belongs to a schedule: --cron',
    ],
    [
      ['create', 'x', ...PROMPT, '--cron', '@daily', '--hook-secret-file', '-'],
      2,
      'belongs to a hook: --hook',
    ],
    [['create', 'x', ...IN_GARDEN, ...PROMPT, '--cron', 'often'], 2, '/trigger/cron'],
    [['create', 'x', ...IN_GARDEN, ...PROMPT, '--on', 'run.fly'], 2, '/trigger/types/0'],
    [
      ['create', 'x', '--project', '~Nowhere', ...PROMPT, '--cron', '@daily'],
      5,
      'There is no project named "Nowhere"',
    ],
    [['create', '--input', '-'], 2, 'stdin is not JSON'],
    [['update', NONE], 2, 'There is nothing to change'],
    [['run', NONE], 5, 'There is no such automation'],
    [['run', NONE, '--payload', 'none.json'], 2, 'none.json cannot be read'],
  ])('%j is refused', async (words, exit, message) => {
    const ran = await signedIn().run(['automations', ...words]);
    expect([ran.exit, ran.stdout]).toEqual([exit, '']);
    expect(ran.stderr).toContain(message);
  });
});

describe('tasks', () => {
  test('are created, listed, shown, changed and deleted', async () => {
    const cli = signedIn();
    const made = await cli.run(['tasks', 'create', 'Dig a pond', ...IN_GARDEN]);
    expect([made.exit, made.stdout]).toEqual([
      0,
      expect.stringMatching(/^ID\ttask_\w+\nTask\tT-\d+\nTitle\tDig a pond\nStatus\topen\n/),
    ]);
    const issue = 'https://github.com/acme/garden/issues/12';
    const other = await documentOf(cli, ['tasks', 'create', 'Weeds', ...IN_GARDEN, '--issue', issue]);
    expect(other.task).toMatchObject({ identifier: 'acme/garden#12', trackerIssueUrl: issue });
    const done = await cli.run(['tasks', 'update', '~pond', '--status', 'done']);
    expect([done.exit, done.stdout]).toEqual([0, expect.stringContaining('Status\tdone\n')]);
    const { tasks } = await documentOf(cli, ['tasks', 'list', ...IN_GARDEN, '--status', 'done']);
    expect(tasks).toMatchObject([{ title: 'Dig a pond' }]);
    const derived = await documentOf(cli, [
      'tasks',
      'update',
      '~pond',
      '--status',
      'derived',
      '--title',
      'Dig',
    ]);
    expect(derived.task).toMatchObject({ title: 'Dig', status: 'open' });
    expect((await cli.run(['tasks', 'list', '--limit', '1'])).stdout).toMatch(
      /^task_\w+\tacme\/garden#12\tWeeds\topen\t0\tjust now\n$/,
    );
    expect((await documentOf(cli, ['tasks', 'show', '~acme/garden'])).task).toEqual(other.task);
    await documentOf(cli, ['tasks', 'delete', other.task.id, '--yes']);
    expect((await cli.run(['tasks', 'show', other.task.id])).exit).toBe(5);
  });

  test.each([
    [['create', 'x'], 2, 'A task needs a TITLE and --project PROJECT.'],
    [['create', 'x', ...IN_GARDEN, '--issue', 'x'], 2, '/trackerIssueUrl'],
    [['update', '~nothing', '--status', 'derived'], 5, 'There is no task named "nothing"'],
    [['update', '~nothing'], 2, 'There is nothing to change'],
    [['list', '--status', 'later'], 2, '--status is one of'],
    [['delete', `task_${'0'.repeat(26)}`, '--yes'], 5, 'There is no such task'],
  ])('%j is refused', async (words, exit, message) => {
    const ran = await signedIn().run(['tasks', ...words]);
    expect([ran.exit, ran.stdout]).toEqual([exit, '']);
    expect(ran.stderr).toContain(message);
  });
});
