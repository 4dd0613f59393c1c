/** Hostile text on every page. */
import { hostileApp, TRAP } from '../hostile.ts';
import { ALL, staysText } from '../hostile-pages.ts';
import { visitAt } from '../page.ts';
import { browserTest, sharedSite, useBrowser } from '../rig.ts';

const rig = useBrowser();

browserTest('nothing of it runs, becomes markup or makes a page wide', async () => {
  const { client, base, state } = sharedSite();
  const hostile = await hostileApp(client);
  const visit = await visitAt(rig, '/console/', { base, state, trap: TRAP });
  await staysText(visit, hostile, ALL);
});
