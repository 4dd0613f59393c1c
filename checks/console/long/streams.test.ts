/** More faults than `npm test` has time for, and those that take long. */
import { afterAll, beforeAll, expect } from 'vitest';
import { summarize } from '../../harness/statistics.ts';
import { open } from '../page.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { makeWaters, meet, QUIET_PAGE, RIGHT_MS, untilLive, untilRight } from '../stream-faults.ts';
import type { Waters } from '../stream-faults.ts';

const SEED = Number(process.env['HEADRACE_SEED'] ?? 1);
const FAULTS = 200;
const MINUTE_MS = 60_000;

const rig = useBrowser();
let waters: Waters;
beforeAll(async () => {
  waters = await makeWaters();
});
afterAll(() => waters?.close());

async function livePage() {
  const visit = await waters.visit(rig);
  await open(visit, QUIET_PAGE);
  await untilLive(visit.page);
  return visit.page;
}

browserTest(
  `a page is right again within 2 s of each of ${FAULTS} faults`,
  { timeout: 20 * MINUTE_MS },
  async () => {
    const page = await livePage();
    const times: number[] = [];
    for (let i = 0; i < FAULTS; i++) times.push(await meet({ ...waters, page }, i, SEED));
    const { median, p95, max } = summarize(times);
    console.log(
      `${FAULTS} faults, seed ${SEED}: right after ${median.toFixed(0)} ms (p95 ${p95.toFixed(0)}, most ${max.toFixed(0)})`,
    );
    expect(max).toBeLessThanOrEqual(RIGHT_MS);
  },
);

browserTest(
  'a stream that says nothing any more is left within a minute',
  { timeout: 3 * MINUTE_MS },
  async () => {
    const { ground, proxy, app } = waters;
    const page = await livePage();
    let left = 1;
    proxy.plan(({ isStream }) => (isStream && left-- > 0 ? { kind: 'stall', after: 0 } : null));
    proxy.cutStreams();
    await expect.poll(() => left <= 0).toBe(true);
    await ground.client.threads.create(app.id, { title: 'Said into the silence' });
    await expect
      .poll(() => untilRight({ ground, page }).catch(String), { timeout: MINUTE_MS })
      .toBeTypeOf('number');
  },
);

browserTest.each(['crash', 'freeze'] as const)('tabs go on after a %s of the first one', async (how) => {
  const { ground, app } = waters;
  const seen = await waters.visit(rig);
  const second = await seen.newTab();
  await open(seen, '/console/');
  await untilLive(seen.page);
  await open(seen, '/console/apps', second);
  await untilLive(second);
  const session = await seen.context.newCDPSession(seen.page);
  if (how === 'crash') void session.send('Page.crash').catch(() => {});
  else await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await ground.client.threads.create(app.id, { title: `After a ${how}` });
  // A frozen tab is missed after ten seconds of silence.
  await expect
    .poll(() => untilRight({ ground, page: second }).catch(String), { timeout: 30_000 })
    .toBeTypeOf('number');
});
