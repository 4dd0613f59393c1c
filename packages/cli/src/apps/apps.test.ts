import { createTestService } from '@headrace/client/testing';
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
