import { createTestService } from '@headrace/client/testing';
import type { TestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';

test('an app is created, and listed', async () => {
  const cli = testCli(createTestService());
  const made = await cli.run(['apps', 'create', 'Shop', '--external-id', 'u_42', '--json']);
  expect([made.exit, made.json()]).toMatchObject([
    0,
    { ok: true, app: { name: 'Shop', externalId: 'u_42' } },
  ]);
  const listed = await cli.run(['apps', 'list']);
  expect([listed.exit, listed.stdout]).toEqual([0, `${made.json().app.id}\tShop\tu_42\tjust now\n`]);
});

test('a creation whose answer never arrives is continued by the same command, and happens once', async () => {
  const service = createTestService();
  let isCut = true;
  const cli = testCli({
    ...service,
    async fetch(input, init) {
      const answer = await service.fetch(input, init);
      if (!isCut) return answer;
      cli.interrupt();
      throw new TypeError('cut');
    },
  });
  const lost = await cli.run(['apps', 'create', 'Shop']);
  expect([lost.exit, lost.stdout]).toEqual([130, '']);
  isCut = false;
  const again = await cli.run(['apps', 'create', 'Shop']);
  expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining('Continuing the same command')]);
  expect((await cli.run(['apps', 'create', 'Shop'])).stderr).toBe('');
  expect((await cli.run(['apps', 'list', '--json'])).json().apps).toHaveLength(2);
});

/** A service with the app Shop, and its id. */
async function shop() {
  const service = createTestService();
  const cli = testCli(service);
  const { app } = (await cli.run(['apps', 'create', 'Shop', '--external-id', 'u_42', '--json'])).json();
  return { service, cli, id: app.id as string };
}

test('an app is shown with its head, and hostile names do not reach the terminal', async () => {
  const { cli, id } = await shop();
  const shown = await cli.run(['apps', 'show', '~sho']);
  expect([shown.exit, shown.stdout]).toEqual([
    0,
    `ID\t${id}\nName\tShop\nExternal ID\tu_42\nHead\t-\nCreated\tjust now\n`,
  ]);
  await cli.run(['apps', 'update', id, '--name', '\u001b[2JShop']);
  expect((await cli.run(['apps', 'show', '--app', id])).stdout).toContain('Name\t␛[2JShop\n');
});

test('an update changes what is named, and keeps the rest of the metadata', async () => {
  const { cli, service, id } = await shop();
  await cli.run(['apps', 'update', id, '--metadata', 'plan=pro', '--metadata', 'note=a=b']);
  const options = ['--name', 'Store', '--no-external-id', '--metadata', 'plan=free', '--no-metadata', 'note'];
  const updated = await cli.run(['apps', 'update', id, ...options, '--json']);
  expect([updated.exit, updated.json().app]).toMatchObject([
    0,
    { name: 'Store', externalId: null, metadata: { plan: 'free' }, version: 3 },
  ]);
  const again = await cli.run(['apps', 'update', id, ...options]);
  expect([again.exit, again.stderr]).toEqual([0, 'The app is so already.\n']);
  expect(service.requests.filter(({ operation }) => operation === 'apps.update')).toHaveLength(2);
});

test.each([
  [[], 'What shall change? Give --name, --external-id or --metadata.'],
  [['--metadata', 'plan'], '--metadata is KEY=VALUE, not "plan".'],
  [['--external-id', 'a', '--no-external-id'], '--external-id and --no-external-id exclude each other.'],
])('an update with %j is wrong use, and sends nothing', async (options, message) => {
  const { cli, service, id } = await shop();
  const before = service.requests.length;
  const { exit, stderr } = await cli.run(['apps', 'update', id, ...options]);
  expect([exit, stderr.split('\n')[0]]).toEqual([2, `headrace: ${message}`]);
  expect(service.requests).toHaveLength(before);
});

/** A service whose answers to DELETE are lost while `isCut`, as Ctrl-C would lose them. */
function losing(service: TestService) {
  const state = { isCut: true };
  const cli = testCli({
    ...service,
    async fetch(input, init) {
      const answer = await service.fetch(input, init);
      if (!state.isCut || new Request(input, init).method !== 'DELETE') return answer;
      cli.interrupt();
      throw new TypeError('cut');
    },
  });
  return { cli, state };
}

test('a deletion needs the name or --yes, and the one whose answer was lost is continued', async () => {
  const { service, id } = await shop();
  const { cli, state } = losing(service);
  const asked = await cli.run(['apps', 'delete', id]);
  expect([asked.exit, asked.stderr]).toEqual([
    2,
    expect.stringContaining('There is no terminal to ask on: give --yes.'),
  ]);
  expect((await cli.run(['apps', 'delete', id, '--yes'])).exit).toBe(130);
  expect((await cli.run(['apps', 'show', id])).exit).toBe(5);
  state.isCut = false;
  const again = await cli.run(['apps', 'delete', id, '--yes']);
  expect([again.exit, again.stdout]).toEqual([0, `${id}\n`]);
});
