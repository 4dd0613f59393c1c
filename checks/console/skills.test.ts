/** The pages of skills: what is uploaded, what is shown of it, and what is refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { choose, folderOf } from './folders.ts';
import { makeApp, skills, skillText, startGround } from './ground.ts';
import type { App, Ground } from './ground.ts';
import { atRest, faultsOfLook, tabTo, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { browserTest, useBrowser } from './rig.ts';
import { press } from './writes.ts';

const rig = useBrowser();
let ground: Ground;
let proxy: Proxy;
let app: App;
let scratch: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'headrace-skills-'));
  ground = await startGround();
  proxy = await startProxy(ground.base);
  app = await makeApp(ground.client);
  await skills(ground, app);
}, 60_000);
afterAll(async () => {
  await proxy?.close();
  await ground?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const at = (path: string) => visitAt(rig, path, { base: proxy.base, state: ground.state });
const names = async (appId: string) =>
  (await ground.client.skills.list(appId)).items.map(({ name, fileCount }) => [name, fileCount]);

browserTest('a folder becomes a skill by the keyboard, is read as text, and is replaced', async () => {
  const fresh = await makeApp(ground.client, 'Fresh');
  const visit = await at(`/console/apps/${fresh.id}/skills`);
  const { page } = visit;
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New skill' });
  await dialog.waitFor();
  const folder = folderOf(join(scratch, 'any-folder'), {
    'SKILL.md': skillText('house-style', 'How to write <b>text</b>.', '# <script>alert(1)</script>'),
    'run.sh': '#!/bin/sh\n',
    'node_modules/x/index.js': '',
  });
  await choose(page, folder);
  await dialog.getByText('2 files,').waitFor();
  await dialog.getByText('node_modules/').waitFor();
  expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('house-style');
  expect(await faultsOfLook(visit)).toEqual([]);
  await tabTo(page, /Add the skill/);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('How to write <b>text</b>.').waitFor();
  expect(await names(fresh.id)).toEqual([['house-style', 2]]);
  // After the organization's brand-voice.
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('# <script>alert(1)</script>').waitFor();
  await page.keyboard.press('Escape');
  const archive = await page.getByRole('link', { name: 'Save house-style.tar.gz' }).getAttribute('href');
  const answer = await page.evaluate<[number, string | null]>(
    `fetch(${JSON.stringify(archive)}).then((one) => [one.status, one.headers.get('content-type')])`,
  );
  expect(answer).toEqual([200, 'application/gzip']);
  await press(page, 'Replace house-style');
  await choose(page, folderOf(join(scratch, 'next'), { 'SKILL.md': skillText('house-style', 'Shorter.') }));
  await page.getByText('Replaces the skill of this name, with its 2 files.').waitFor();
  await press(page, 'Replace the skill');
  await page.getByText('Shorter.').waitFor();
  expect(await names(fresh.id)).toEqual([['house-style', 1]]);
});

browserTest('what is refused is said in words, at the name and at the files', async () => {
  const visit = await at(`/console/apps/${app.id}/skills`);
  visit.allows(/^PUT .*: 400$/);
  const { page } = visit;
  proxy.forget();
  await press(page, 'New skill');
  await choose(page, folderOf(join(scratch, 'empty-one'), { 'README.md': 'none' }));
  await page.getByText('A skill has a SKILL.md at its top.').waitFor();
  await press(page, 'Choose another');
  await choose(page, folderOf(join(scratch, 'no-front'), { 'SKILL.md': 'just text' }));
  const field = page.getByRole('textbox', { name: 'Name' });
  expect(await field.inputValue()).toBe('no-front');
  await field.fill('No Front');
  await page.getByText('in words that single hyphens join').waitFor();
  expect(proxy.asked().filter(({ method }) => method === 'PUT')).toEqual([]);
  await field.fill('no-front');
  await press(page, 'Add the skill');
  await page.getByText(/^SKILL\.md must begin with front matter/).waitFor();
  expect(await field.inputValue()).toBe('no-front');
  proxy.plan(({ method }) =>
    method === 'PUT' ? { kind: 'answer', status: 400, code: 'invalid_request', field: '/params/name' } : null,
  );
  await press(page, 'Add the skill');
  await page.getByText(/is not what the test wants/).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  proxy.plan(() => null);
});

browserTest('the app’s skills, the organization’s, and which of these are hidden', async () => {
  const visit = await at(`/console/apps/${app.id}/skills`);
  const { page } = visit;
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  expect(await row('release-notes').innerText()).toMatch(/2 files[\s\S]*the app’s, hides the organization’s/);
  expect(await row('brand-voice').innerText()).toMatch(/the organization’s/);
  expect(
    await row('brand-voice')
      .getByRole('button', { name: /Replace|Delete/ })
      .count(),
  ).toBe(0);
  await press(page, 'Read brand-voice');
  await page.getByRole('dialog').getByText('name: brand-voice').waitFor();
  await page.keyboard.press('Escape');
  await press(page, 'Delete release-notes');
  await page.getByText('The organization’s skill of this name then holds').waitFor();
  await press(page, 'Delete the skill');
  await page.getByText('How to write release notes in every app.').waitFor();
  expect(await names(app.id)).toEqual([['checkout-tests', 2]]);
});

browserTest('who may not read the organization’s is shown nothing of them', async () => {
  proxy.plan(({ path }) =>
    path.startsWith('/api/skills') ? { kind: 'answer', status: 403, code: 'forbidden' } : null,
  );
  const visit = await at('/console/organization/skills');
  visit.allows(/\/api\/skills.*: 403$/);
  await visit.page.getByText('It does not exist, or you may not see it').waitFor();
  expect(await visit.page.getByRole('button', { name: 'New skill' }).count()).toBe(0);
  proxy.plan(() => null);
});

browserTest('both Instructions lead to them, and so does the palette', async () => {
  const visit = await at(`/console/apps/${app.id}/settings`);
  const { page } = visit;
  await page.getByRole('link', { name: 'The app’s skills' }).click();
  await page.getByRole('heading', { name: 'Skills', level: 1 }).waitFor();
  await page.goto('/console/organization/settings');
  await page.getByRole('link', { name: 'The organization’s skills' }).click();
  await page.getByRole('heading', { name: 'Skills of the organization' }).waitFor();
  await atRest(visit);
  await page.goto(`/console/apps/${app.id}`);
  await atRest(visit);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('searchbox').waitFor();
  await page.keyboard.type('Skills of this');
  await page.getByRole('menuitem', { name: 'Skills of this app' }).click();
  await page.getByRole('heading', { name: 'Skills', level: 1 }).waitFor();
});
