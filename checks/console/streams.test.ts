/** The live data of pages while connections break, and tabs come and go. `long/` meets more faults. */
import { afterAll, beforeAll, expect } from 'vitest';
import { open } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';
import { KINDS, makeWaters, meet, QUIET_PAGE, untilLive, untilRight } from './stream-faults.ts';
import type { Waters } from './stream-faults.ts';

const SEED = 20_260_101;
const TABS = 8;
/** Far more than a tab needs on a machine that has time: `npm run bench` measures it. */
const TAB_MS = 5_000;

const rig = useBrowser();
let waters: Waters;
beforeAll(async () => {
  waters = await makeWaters();
}, 60_000);
afterAll(() => waters?.close());

browserTest('a page is right again within 2 s of each kind of fault', { timeout: 120_000 }, async () => {
  const visit = await waters.visit(rig);
  await open(visit, QUIET_PAGE);
  await untilLive(visit.page);
  for (let i = 0; i < KINDS.length; i++) await meet({ ...waters, page: visit.page }, i, SEED);
});

browserTest(`${TABS} tabs load, with three streams at most; the others go on without the first`, async () => {
  const { ground, proxy, app } = waters;
  const seen = await waters.visit(rig);
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
  await seen.page.close();
  await ground.client.threads.create(app.id, { title: 'Seen by the others' });
  for (const page of pages.slice(1)) await untilRight({ ground, page });
});
