/** Text of users, agents and commands stays text on every page, whatever it says. */
import { afterAll, beforeAll, expect } from 'vitest';
import { startGround } from './ground.ts';
import type { Ground } from './ground.ts';
import { FOUND, hostileApp, NAME, PAYLOADS, TITLE, TRAP } from './hostile.ts';
import type { Hostile } from './hostile.ts';
import { goTo, textOf, tooWide, visitAt } from './page.ts';
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
/** A text that the page itself has to show; others only must not be blank or fail. */
const SHOWN: Record<string, string> = {
  apps: NAME,
  'race as a table': TITLE,
  sources: 'The first version',
  source: 'notes.md',
  'a file': PAYLOADS[0],
  'a file of Markdown': PAYLOADS[0],
  'a long line': 'xxxxxxxxxx',
  diff: 'notes.md',
  thread: PAYLOADS[1],
  'thread, changes': 'notes.md',
  'thread, files': 'notes.md',
  build: PAYLOADS[1],
  'files of a build': 'img src=x onerror=xss().md',
  'an unknown address': 'This address leads nowhere',
  'a bad parameter': 'A part of the address is not understood',
};

browserTest('nothing of it runs, becomes markup or makes a page wide', { timeout: 90_000 }, async () => {
  const visit = await visitAt(rig, '/console/', { base: ground.base, state: ground.state, trap: TRAP });
  // The router says itself which parameter it refused.
  visit.allows(/^console: .*“status” is unknown/);
  for (const [name, address] of Object.entries(ADDRESSES)) {
    await visit.page.setViewportSize({ width: 1280, height: 800 });
    await goTo(visit, `/console/${address()}`);
    expect(await visit.page.evaluate(FOUND), name).toEqual([]);
    // Outside of the frame of all pages there is no `main`.
    const text = await textOf(visit.page, name === 'an unknown address' ? 'body' : 'main');
    expect(text, name).toMatch(/\S/);
    expect(text, name).not.toMatch(/Not here|The page failed/);
    expect(text, name).toContain(SHOWN[name] ?? '');
    await visit.page.setViewportSize({ width: 360, height: 640 });
    expect(await tooWide(visit.page), name).toEqual([]);
  }
});

browserTest('no address outside of the console is gone to after the sign-in', async () => {
  for (const to of [
    '//evil.example/',
    'https://evil.example/',
    'javascript:xss()',
    '/\\evil.example',
    '/%2F/evil.example',
  ]) {
    const visit = await rig.visit({ base: ground.base, trap: TRAP });
    visit.allows(/: 401$/, /net::ERR/);
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
