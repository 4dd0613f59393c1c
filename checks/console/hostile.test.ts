/** Text of users, agents and commands stays text, whatever it says; `long/` looks at every page. */
import { beforeAll, expect } from 'vitest';
import { OWNER } from '../harness/service.ts';
import type { Site } from './ground.ts';
import { FOUND, hostileApp, TRAP } from './hostile.ts';
import { staysText } from './hostile-pages.ts';
import { visitAt } from './page.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

const rig = useBrowser();
let site: Site;
beforeAll(() => {
  site = sharedSite();
});

/** Where texts are shown in different ways. */
const PAGES = ['race as a table', 'a file of Markdown', 'diff', 'thread', 'build', 'a bad parameter'];

browserTest('nothing of it runs, becomes markup or makes a page wide', { timeout: 90_000 }, async () => {
  const hostile = await hostileApp(site.client);
  const visit = await visitAt(rig, '/console/', { base: site.base, state: site.state, trap: TRAP });
  await staysText(visit, hostile, PAGES);
});

browserTest('no address outside of the console is gone to after the sign-in', async () => {
  // A unit test has more of them.
  for (const to of ['//evil.example/', 'javascript:xss()']) {
    const visit = await rig.visit({ base: site.base, trap: TRAP });
    visit.allows(/: 401$/, /net::ERR/);
    const { page } = visit;
    await page.goto(`/console/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel(/e-?mail/i).fill(OWNER.email);
    await page.getByLabel(/password/i).fill(OWNER.password);
    await page.getByRole('button', { name: /sign in/i }).click();
    await page
      .getByRole('link', { name: 'Inbox' })
      .or(page.getByText('This address leads nowhere'))
      .first()
      .waitFor();
    expect(new URL(page.url()).origin).toBe(site.base);
    expect(await page.evaluate(FOUND)).toEqual([]);
  }
});
