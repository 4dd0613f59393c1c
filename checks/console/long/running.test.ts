/** The log of events with more events than anybody reads. */
import { beforeAll, expect } from 'vitest';
import { makeApp } from '../ground.ts';
import type { App, Site } from '../ground.ts';
import { browserTest, sharedSite, useBrowser } from '../rig.ts';

let ground: Site;
let app: App;
const rig = useBrowser();

beforeAll(async () => {
  ground = sharedSite();
  app = await makeApp(ground.client, 'Much work');
});

const MANY = 20_000;
const FREEZE_MS = 1_000;
const LONG_TASKS = `window.__tasks = [];
  new PerformanceObserver((list) => window.__tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });`;
const numberIn = (text: string) => Number(text.replace(/\D/g, ''));

const synthetic = (appId: string, n: number) => ({
  id: `evt_${String(n).padStart(26, '0')}`,
  type: 'run.running',
  sequence: String(n),
  orgId: `org_${'0'.repeat(26)}`,
  appId,
  projectId: appId,
  threadId: null,
  runId: null,
  data: { id: `run_${String(n).padStart(26, '0')}`, status: 'running' },
  occurredAt: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  publishedAt: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  cursor: String(n),
});

browserTest('goes through twenty thousand events without a freeze', async () => {
  const visited = await rig.visit({ base: ground.base, state: ground.state, trap: LONG_TASKS });
  const { page } = visited;
  // Made here: as many as this take the service minutes.
  await page.route(/\/events\?.*order=desc/, (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get('cursor') ?? MANY + 1);
    const events = Array.from({ length: 200 }, (_, i) => synthetic(app.id, after - 1 - i));
    return route.fulfill({
      json: { ok: true, events, nextCursor: String(after - 200), hasMore: after - 200 > 1 },
    });
  });
  await page.goto(`/console/events?appId=${app.id}&event=${synthetic(app.id, MANY - 4_900).id}`);
  await page.getByText(`"sequence": "${MANY - 4_900}"`).waitFor();
  // Not of loading the page.
  await page.evaluate('window.__tasks.length = 0; window.scrollTo(0, 0)');
  await page.keyboard.press('Escape');
  for (let read = 5_000; read < MANY;) {
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    const said = page.getByText(/\d read$/);
    await expect.poll(async () => numberIn(await said.innerText())).toBeGreaterThan(read);
    read = numberIn(await said.innerText());
  }
  await page.getByText('This is the oldest one.').waitFor();
  expect(await page.getByRole('list', { name: 'Events' }).getByRole('listitem').count()).toBeLessThan(80);
  // Other work on the machine of a test is in it.
  expect(await page.evaluate<number>('Math.max(0, ...window.__tasks)')).toBeLessThan(FREEZE_MS);
});
