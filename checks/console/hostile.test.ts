/** Text of users, agents and commands stays text on every page, whatever it says. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startGround } from './ground.ts';
import type { Ground } from './ground.ts';
import { FOUND, hostileApp, TRAP } from './hostile.ts';
import type { Hostile } from './hostile.ts';
import { open, textOf, tooWide } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
let hostile: Hostile;
let latest: string | null;

beforeAll(async () => {
  ground = await startGround();
  hostile = await hostileApp(ground.client);
  latest = (await ground.client.threads.get(hostile.app.id, hostile.threadId)).latestSourceId;
}, 60_000);
afterAll(() => ground?.stop());

const FILE = encodeURIComponent('img src=x onerror=xss()/مرحبا بالعالم.txt');
const ADDRESSES: Record<string, () => string> = {
  inbox: () => '',
  apps: () => 'apps',
  race: () => `apps/${hostile.app.id}`,
  'race as a table': () => `apps/${hostile.app.id}?show=table`,
  settings: () => `apps/${hostile.app.id}/settings`,
  sources: () => `apps/${hostile.app.id}/sources`,
  source: () => `apps/${hostile.app.id}/sources/${latest}`,
  'a file': () => `apps/${hostile.app.id}/sources/${latest}?file=${FILE}`,
  'a file of Markdown': () => `apps/${hostile.app.id}/sources/${latest}?file=notes.md`,
  'a long line': () => `apps/${hostile.app.id}/sources/${latest}?file=long-line.js`,
  diff: () => `apps/${hostile.app.id}/diff?from=${hostile.app.sourceId}&to=${latest}`,
  thread: () => `apps/${hostile.app.id}/threads/${hostile.threadId}`,
  ...Object.fromEntries(
    ['changes', 'files', 'builds', 'events', 'runs'].map((panel) => [
      `thread, ${panel}`,
      () => `apps/${hostile.app.id}/threads/${hostile.threadId}?panel=${panel}`,
    ]),
  ),
  builds: () => `apps/${hostile.app.id}/builds`,
  build: () => `apps/${hostile.app.id}/builds/${hostile.buildId}`,
  'files of a build': () => `apps/${hostile.app.id}/builds/${hostile.buildId}?part=files`,
  // What an address says is shown, too.
  'an unknown address': () => encodeURIComponent('<img src=x onerror=xss() data-xss>'),
  'a bad parameter': () => `apps/${hostile.app.id}/builds?status=${encodeURIComponent('<b data-xss>')}`,
};

async function hostileVisit() {
  const visit = await rig.visit({ base: ground.base, state: ground.state });
  // The router says itself which parameter it refused.
  visit.allows(/^console: .*“status” is unknown/);
  await visit.context.addInitScript(TRAP);
  return visit;
}

describe.each(Object.entries(ADDRESSES))('%s', (name, address) => {
  // It has no sidebar.
  const isOutside = name === 'an unknown address';
  browserTest('nothing of it runs, becomes markup or makes the page wide', async () => {
    const visit = await hostileVisit();
    await open(visit, `/console/${address()}`);
    expect(await visit.page.evaluate(FOUND)).toEqual([]);
    await visit.page.setViewportSize({ width: 360, height: 640 });
    expect(await tooWide(visit.page)).toEqual([]);
    // It is there, as text: the sidebar names the thread.
    await visit.page.setViewportSize({ width: 1280, height: 800 });
    if (!isOutside) expect(await textOf(visit.page)).toContain(hostile.title);
  });
});

browserTest('no address outside of the console is gone to after the sign-in', async () => {
  for (const to of [
    '//evil.example/',
    'https://evil.example/',
    'javascript:xss()',
    '/\\evil.example',
    '/%2F/evil.example',
  ]) {
    const visit = await rig.visit({ base: ground.base });
    visit.allows(/: 401$/, /net::ERR/);
    await visit.context.addInitScript(TRAP);
    const { page } = visit;
    await page.goto(`/console/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel(/e-?mail/i).fill('owner@example.test');
    await page.getByLabel(/password/i).fill('a password of a benchmark');
    await page.getByRole('button', { name: /sign in/i }).click();
    await page
      .getByRole('link', { name: 'Inbox' })
      .or(page.getByText('This address leads nowhere'))
      .first()
      .waitFor();
    expect(new URL(page.url()).origin).toBe(ground.base);
    expect(await page.evaluate(FOUND)).toEqual([]);
  }
});
