/** A person's own machine: its token is shown once, its program brings it online with its folders, and it is deleted. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { endProcess } from '../harness/service.ts';
import { asOwner } from './areas/team/ground.ts';
import { atRest, visitAt } from './page.ts';
import { KEPT } from './remains.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';
import { press } from './writes.ts';

const rig = useBrowser();
const CLI = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const LIMIT_MS = 30_000;

function startProgram(base: string, token: string): void {
  const home = mkdtempSync(join(tmpdir(), 'headrace-host-'));
  mkdirSync(join(home, 'Notes'));
  const bind = `--bind=Notes=${join(home, 'Notes')}`;
  const child = spawn(
    process.execPath,
    [CLI, 'host', '--yes', `--url=${base}`, bind, '--agent=agent_a=scripted'],
    {
      stdio: 'ignore',
      env: { ...process.env, HOME: home, XDG_STATE_HOME: home, HEADRACE_HOST_TOKEN: token },
    },
  );
  onTestFinished(async () => {
    await endProcess(child);
    rmSync(home, { recursive: true, force: true });
  });
}

browserTest(
  'is added, comes online with its folders, and is deleted',
  async () => {
    const site = sharedSite();
    const visit = await visitAt(rig, '/console/organization/hosts', { base: site.base, state: site.state });
    const { page } = visit;
    await press(page, 'New host');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Kim’s laptop');
    await press(page, 'Add the host');
    const token = await page.getByLabel('Token', { exact: true }).inputValue();
    expect(token).toMatch(/^hrh_/);
    // It is not lost by a key that slips.
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Token', { exact: true }).count()).toBe(1);
    await press(page, 'I have saved it');
    await page.getByRole('heading', { name: 'Kim’s laptop', exact: true }).waitFor();
    await atRest(visit);
    expect(await page.evaluate<string>(KEPT)).not.toContain(token);
    await page.getByText('No folders yet').waitFor();

    startProgram(site.base, token);
    const id = page.url().split('/').at(-1)!;
    const isOnline = async () => (await asOwner(site).hosts.get(id)).status === 'online';
    await expect.poll(isOnline, { timeout: LIMIT_MS }).toBe(true);
    await page.reload();
    await page.getByRole('list', { name: 'Folders' }).getByText('Notes').waitFor();
    expect(await page.locator('main').innerText()).toMatch(/online[\s\S]*for its person alone[\s\S]*agent_a/);

    await press(page, 'More');
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
    await press(page, 'Delete the host');
    await page.getByRole('heading', { name: 'Hosts', exact: true }).waitFor();
    expect((await asOwner(site).hosts.list()).items.some((host) => host.id === id)).toBe(false);
  },
  2 * LIMIT_MS,
);
