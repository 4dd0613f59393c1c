/** More faults than `npm test` has time for, and those that take long. */
import { afterAll, beforeAll, expect } from 'vitest';
import { summarize } from '../../harness/statistics.ts';
import { makeApp, startGround } from '../ground.ts';
import type { App, Ground } from '../ground.ts';
import { open } from '../page.ts';
import { startProxy } from '../proxy.ts';
import type { Proxy } from '../proxy.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { meet, QUIET_PAGE, RIGHT_MS, untilLive, untilRight } from '../stream-faults.ts';

const SEED = Number(process.env['HEADRACE_SEED'] ?? 1);
const FAULTS = 200;
const MINUTE_MS = 60_000;

const rig = useBrowser();
let ground: Ground;
let app: App;
let proxy: Proxy;

beforeAll(async () => {
  ground = await startGround();
  proxy = await startProxy(ground.base);
  app = await makeApp(ground.client);
  for (let i = 1; i <= 8; i++) await ground.client.threads.create(app.id, { title: `Thread ${i}` });
});
afterAll(async () => {
  await proxy?.close();
  await ground?.stop();
});

async function livePage() {
  const visit = await rig.visit({ base: proxy.base, state: ground.state });
  visit.allows(/net::ERR/, /: (410|429|503)$/);
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
    for (let i = 0; i < FAULTS; i++) times.push(await meet({ ground, proxy, app, page }, i, SEED));
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
