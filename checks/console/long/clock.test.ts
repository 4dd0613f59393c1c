/** The machine's clock is off, jumps, or the machine sleeps: pages stay live, and say how long ago something was. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { open } from '../page.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { makeWaters, QUIET_PAGE, untilLive, untilRight } from '../stream-faults.ts';
import type { Waters } from '../stream-faults.ts';

const HOUR_MS = 3_600_000;
const SLEEP_MS = 10 * 60_000;

const rig = useBrowser();
let waters: Waters;
beforeAll(async () => {
  waters = await makeWaters();
});
afterAll(() => waters?.close());

/** A clock that `setClock` moves. Timers and `performance.now` go on as they are, as when a machine's clock is set. */
const clockAt = (shift: number) => `(() => {
  const real = Date;
  let shift = ${shift};
  window.setClock = (ms) => { shift = ms; };
  window.Date = class Date extends real {
    constructor(...args) { if (args.length) super(...args); else super(real.now() + shift); }
    static now() { return real.now() + shift; }
  };
})()`;

/** A change is seen, by the stream that is open and by the next one. */
async function staysLive(page: Page): Promise<void> {
  const { ground, proxy, app } = waters;
  await ground.client.threads.create(app.id, { title: 'While it is open' });
  await untilRight({ ground, page });
  proxy.cutStreams();
  await ground.client.threads.create(app.id, { title: 'While it is cut' });
  await untilLive(page);
  await untilRight({ ground, page });
}

/** All that the page shows was made within this test. Waits until the page has asked its clock again. */
async function saysPast(page: Page): Promise<void> {
  const times = page.locator('main time');
  await expect.poll(() => times.count()).toBeGreaterThan(0);
  await expect
    .poll(() => times.allInnerTexts(), { timeout: 40_000 })
    .toSatisfy((texts: string[]) => texts.every((text) => /^\d+ (sec|min)\. ago$/.test(text)));
}

browserTest.each([
  ['an hour ahead', HOUR_MS],
  ['an hour back', -HOUR_MS],
  ['30 days ahead', 720 * HOUR_MS],
  ['30 days back', -720 * HOUR_MS],
])('a clock that is set %s', async (_, shift) => {
  const visit = await waters.visit(rig);
  const { page } = visit;
  await visit.context.addInitScript(clockAt(0));
  await open(visit, `/console/apps/${waters.app.id}`);
  await untilLive(page);
  await page.evaluate(`setClock(${shift})`);
  await staysLive(page);
  await saysPast(page);
  await page.evaluate('setClock(0)');
  await staysLive(page);
});

browserTest.each([
  ['fast', 3 * HOUR_MS],
  ['slow', -3 * HOUR_MS],
])('a clock that is three hours %s', async (_, shift) => {
  const visit = await waters.visit(rig);
  await visit.context.addInitScript(clockAt(shift));
  await open(visit, `/console/apps/${waters.app.id}`);
  await untilLive(visit.page);
  await staysLive(visit.page);
  await saysPast(visit.page);
});

browserTest('a machine that sleeps ten minutes, and wakes with its connections gone', async () => {
  const { ground, proxy, app } = waters;
  const visit = await waters.visit(rig);
  const { page } = visit;
  await page.clock.install();
  await open(visit, QUIET_PAGE);
  await untilLive(page);
  const session = await visit.context.newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  proxy.cutStreams();
  await ground.client.threads.create(app.id, { title: 'While it sleeps' });
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  // Each timer that was due is late once.
  await page.clock.fastForward(SLEEP_MS);
  await untilLive(page);
  await untilRight({ ground, page });
  await staysLive(page);
});
