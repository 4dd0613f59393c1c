/** An app from its creation to its end, and who signs in: the pages of apps, imports, settings and accounts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { browserTest, useBrowser } from './rig.ts';
import { choose, folderOf, press } from './folders.ts';
import { startGround } from './ground.ts';
import type { Ground } from './ground.ts';
import { faultsOfLook, visitAt } from './page.ts';

const rig = useBrowser();
let ground: Ground;
let scratch: string;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'headrace-apps-'));
  ground = await startGround();
});
afterAll(async () => {
  await ground?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const at = (path: string, state: Ground['state'] = ground.state) =>
  visitAt(rig, path, { base: ground.base, state });

browserTest('an app is created, and a folder becomes its head without what is ignored', async () => {
  const { page } = await at('/console/apps');
  await press(page, 'Create the first app');
  await page.getByLabel('Name', { exact: true }).fill('Shop');
  await page.keyboard.press('Enter');
  await page.getByText('Drop a folder here').waitFor();
  await choose(
    page,
    folderOf(join(scratch, 'shop'), {
      '.gitignore': '*.log\ndist\n',
      'a.log': '',
      'bin/run': '#!/bin/sh\n',
      'dist/o.js': '',
      'node_modules/x/i.js': '',
    }),
  );
  await page.locator('label').filter({ hasText: 'dist/' }).click();
  await page.getByText('3 files').waitFor();
  await page.getByLabel('What this version is').fill('The first');
  await press(page, 'Import');
  await page.getByText('Imported. The app has its first head.').waitFor();
  const { client } = ground;
  const [app] = (await client.apps.list()).items;
  const source = await client.sources.get(app!.id, app!.headSourceId!);
  const files = (await client.sources.files(app!.id, source.id)).items;
  expect(source.message).toBe('The first');
  expect(files.map(({ path, executable }) => [path, executable])).toEqual([
    ['.gitignore', false],
    ['bin/run', true],
    ['dist/o.js', false],
  ]);
});

browserTest(
  'settings: only what was typed is sent, survives a reload, and is refused at its field',
  async () => {
    const { client } = ground;
    const app = await client.apps.create({ name: 'Set' });
    await client.settings.update(app.id, { preview: { frameAncestors: ['https://x.example.com'] } });
    const visit = await at(`/console/apps/${app.id}/settings`);
    visit.allows(/\/settings.*: 400/);
    const { page } = visit;
    await page.locator('label').filter({ hasText: 'Only listed hosts' }).click();
    await page.getByRole('textbox', { name: 'Hosts' }).fill('a.example.com\nnot a host');
    await page.getByLabel('Runs').fill('3');
    await page.reload();
    await page.getByText('2 settings changed').waitFor();
    await press(page, 'Save');
    await page.getByText(/^not a host: /).waitFor();
    await page.getByRole('textbox', { name: 'Hosts' }).fill('a.example.com');
    await press(page, 'Save');
    await page.getByText(/^Saved\./).waitFor();
    await press(page, 'Allow this console');
    await page.getByText('This console may show').waitFor();
    const { egress, concurrency, preview, spendLimitMicros } = await client.settings.get(app.id);
    expect({ egress, concurrency, preview, spendLimitMicros }).toEqual({
      egress: { mode: 'list', hosts: ['a.example.com'] },
      concurrency: { runs: 3, builds: null },
      preview: { frameAncestors: ['https://x.example.com', ground.base] },
      spendLimitMicros: null,
    });
  },
);

browserTest('an invited person joins once, and changes the password', async () => {
  const path = await invitationPath('new@example.test');
  const nobody = { cookies: [], origins: [] };
  const visit = await at(path, nobody);
  visit.allows(/\/api\/session.*: 40[13]/);
  const { page } = visit;
  expect(await faultsOfLook(visit)).toEqual([]);
  await page.getByLabel('Your name').fill('New One');
  await page.getByLabel('Password').pressSequentially('short');
  await press(page, 'Accept the invitation');
  await page.getByText('It has 5 characters').waitFor();
  await page.getByLabel('Password').fill('a long password 2');
  await press(page, 'Accept the invitation');
  await page.waitForURL(/\/console\/$/);
  await page.goto('/console/account');
  await page.getByLabel('Current password').fill('wrong');
  await page.getByLabel('New password').fill('another long one');
  await press(page, 'Change the password');
  await page.getByText('The current password is wrong.').waitFor();
  await page.getByLabel('Current password').fill('a long password 2');
  await press(page, 'Change the password');
  await page.getByText('The password is changed.').waitFor();

  const late = await at(path, nobody);
  late.allows(/\/api\/session.*: 401/, /\/accept: 404/);
  await late.page.getByLabel('Your name').fill('Too Late');
  await late.page.getByLabel('Password').fill('a long password 3');
  await press(late.page, 'Accept the invitation');
  await late.page.getByText('This invitation no longer works').waitFor();
});

async function invitationPath(email: string): Promise<string> {
  const { base, state } = ground;
  const response = await fetch(`${base}/api/members`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: base,
      'idempotency-key': crypto.randomUUID(),
      cookie: state.cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    },
    body: JSON.stringify({ email, role: 'member' }),
  });
  const { invitation } = (await response.json()) as { invitation: { url: string } };
  return new URL(invitation.url).pathname;
}
