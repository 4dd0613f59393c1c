/** The live data of pages while connections break, and tabs come and go. `long/` meets more faults. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeApp, startGround } from './ground.ts';
import type { App, Ground } from './ground.ts';
import { open } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { browserTest, useBrowser } from './rig.ts';
import { meet, QUIET_PAGE, untilLive, untilRight } from './stream-faults.ts';

const SEED = 20_260_101;
const FAULTS = 15;
const TABS = 8;
/** Far more than a tab needs on a machine that has time: `npm run bench` measures it. */
const TAB_MS = 5_000;

const rig = useBrowser();
let ground: Ground;
let app: App;
let proxy: Proxy;

beforeAll(async () => {
  ground = await startGround();
  proxy = await startProxy(ground.base);
  app = await makeApp(ground.client);
  for (let i = 1; i <= 8; i++) await ground.client.threads.create(app.id, { title: `Thread ${i}` });
}, 60_000);
afterAll(async () => {
  await proxy?.close();
  await ground?.stop();
});

/** A visit whose connections break on purpose. */
async function visit() {
  const made = await rig.visit({ base: proxy.base, state: ground.state });
  made.allows(/net::ERR/, /: (410|429|503)$/);
  return made;
}

browserTest(
  `a page is right again within 2 s of each of ${FAULTS} faults`,
  { timeout: 120_000 },
  async () => {
    const { page, ...rest } = await visit();
    await open({ page, ...rest }, QUIET_PAGE);
    await untilLive(page);
    for (let i = 0; i < FAULTS; i++) await meet({ ground, proxy, app, page }, i, SEED);
  },
);

describe('tabs', () => {
  browserTest(`${TABS} of them load, with three streams at most`, async () => {
    const seen = await visit();
    proxy.forget();
    const pages = [seen.page];
    while (pages.length < TABS) pages.push(await seen.newTab());
    for (const page of pages) {
      const from = performance.now();
      await open(seen, '/console/', page);
      await untilLive(page);
      expect(performance.now() - from).toBeLessThan(TAB_MS);
    }
    expect(proxy.streams().most).toBeLessThanOrEqual(3);
    await ground.client.threads.create(app.id, { title: 'Seen by all' });
    for (const page of pages) await untilRight({ ground, page });
  });

  browserTest.each([
    ['is closed', 'close'],
    ['crashes', 'crash'],
    ['is frozen', 'freeze'],
  ] as const)('the others go on when the first one %s', { timeout: 60_000 }, async (_, how) => {
    const seen = await visit();
    const second = await seen.newTab();
    await open(seen, '/console/');
    await untilLive(seen.page);
    await open(seen, '/console/apps', second);
    await untilLive(second);
    if (how === 'close') await seen.page.close();
    else {
      const session = await seen.context.newCDPSession(seen.page);
      if (how === 'crash') void session.send('Page.crash').catch(() => {});
      else await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    }
    await ground.client.threads.create(app.id, { title: `After it ${how}` });
    // A frozen tab is missed after ten seconds of silence.
    await expect
      .poll(() => untilRight({ ground, page: second }).catch(String), { timeout: 30_000 })
      .toBeTypeOf('number');
  });
});
