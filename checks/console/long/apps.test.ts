/** More of apps: imports that are refused or interrupted, and the end of an app. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { choose, folderOf, press } from '../folders.ts';
import type { Site } from '../ground.ts';
import { visitAt } from '../page.ts';
import { browserTest, sharedSite, useBrowser } from '../rig.ts';

const rig = useBrowser();
let ground: Site;
let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'headrace-apps-'));
  ground = sharedSite();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const at = (path: string) => visitAt(rig, path, { base: ground.base, state: ground.state });

browserTest('a refused archive is explained by path, and its links can be left out', async () => {
  const app = await ground.client.apps.create({ name: 'Archive' });
  const visit = await at(`/console/apps/${app.id}`);
  visit.allows(/\/sources.*: 400/);
  const { page } = visit;
  const folder = folderOf(join(scratch, 'archive'), { ok: 'ok\n' });
  symlinkSync('/etc/passwd', join(folder, 'link'));
  const archive = join(scratch, 'links.tar.gz');
  execFileSync('tar', ['-czf', archive, '-C', folder, '.']);
  await page.locator('input[type=file]').nth(1).setInputFiles(archive);
  await press(page, 'Import');
  await page
    .getByRole('list', { name: 'Faults by path' })
    .getByText(/^link$/)
    .waitFor();
  await page.locator('label').filter({ hasText: 'Leave them out' }).click();
  await press(page, 'Import');
  await page.getByText('1 link left out.').waitFor();
  await page.getByText('Imported. The app has its first head.').waitFor();
});

browserTest('a reload between the import and the head goes on with the head', async () => {
  const { client } = ground;
  const app = await client.apps.create({ name: 'Reloaded' });
  const visit = await at(`/console/apps/${app.id}`);
  visit.allows(/initialize/, /console: .*ERR_FAILED/);
  const { page } = visit;
  let isCut = true;
  await page.route('**/source-head/initialize', (route) => (isCut ? route.abort() : route.continue()));
  await choose(page, folderOf(join(scratch, 'reloaded'), { a: 'a' }));
  const asked = page.waitForRequest(/initialize/);
  await press(page, 'Import');
  await asked;
  expect((await client.apps.get(app.id)).headSourceId).toBeNull();
  // The client repeats the write by itself: only the next page gets through.
  page.once('framenavigated', () => {
    isCut = false;
  });
  await page.reload();
  await page.getByText('Imported. The app has its first head.').waitFor();
  expect((await client.sources.list(app.id)).items).toHaveLength(1);
});

browserTest('an app is deleted by who types its name', async () => {
  const app = await ground.client.apps.create({ name: 'Ends' });
  const visit = await at(`/console/apps/${app.id}/settings`);
  // The page may read once more what is deleted, just before it leaves.
  visit.allows(/: 404$/);
  const { page } = visit;
  await press(page, 'Delete the app');
  const verb = page.getByRole('dialog').getByRole('button', { name: 'Delete the app' });
  expect(await verb.getAttribute('aria-disabled')).toBe('true');
  await page.getByLabel('The app’s name').fill('Ends');
  await verb.click();
  await page.waitForURL(/\/console\/apps$/);
  await expect(ground.client.apps.get(app.id)).rejects.toMatchObject({ status: 404 });
});
