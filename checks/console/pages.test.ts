/** Every page: its five states, without violations of WCAG in both themes, and no wider than a phone. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeApp, startGround, startWholeGround } from './ground.ts';
import type { App, Ground, WholeGround } from './ground.ts';
import { atRest, axe, open, textOf, tooWide, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { browserTest, useBrowser } from './rig.ts';
import { PAGES } from './scenes.ts';

const rig = useBrowser();
let ground: WholeGround;
/** A service with one app, without any work. */
let bare: Ground;
let bareApp: App;
let proxy: Proxy;
let options: { base: string; state: Ground['state'] };

beforeAll(async () => {
  [ground, bare] = await Promise.all([startWholeGround(), startGround()]);
  proxy = await startProxy(ground.base);
  options = { base: proxy.base, state: ground.state };
}, 90_000);
afterAll(async () => {
  await proxy?.close();
  await Promise.all([ground?.stop(), bare?.stop()]);
});

/** Pages without content yet have no states to test. */
const LANDED = new Set(['inbox']);
const WIDTHS = [360, 320];
/** A page that is loaded may move by this share of the window: none that a person would notice. */
const MOST_SHIFT = 0.05;
const SHIFTS = `(() => { let sum = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  window.__shift = () => sum; })()`;

describe.each(PAGES.filter(({ name }) => LANDED.has(name)))('$name', ({ path, read, unknown, empty }) => {
  browserTest('is clean to axe in both themes, and fits a phone', async () => {
    const visit = await visitAt(rig, path(ground), options);
    expect(await axe(visit.page), 'light').toEqual([]);
    await visit.page.emulateMedia({ colorScheme: 'dark' });
    expect(await axe(visit.page), 'dark').toEqual([]);
    for (const width of WIDTHS) {
      await visit.page.setViewportSize({ width, height: 640 });
      await atRest(visit);
      expect(await tooWide(visit.page), `${width} px`).toEqual([]);
    }
  });

  browserTest('loading: skeletons hold the place of what comes', async () => {
    const visit = await rig.visit(options);
    await visit.context.addInitScript(SHIFTS);
    proxy.plan((asked) =>
      read.test(`${asked.method} ${asked.path}`) && !asked.path.includes('/session')
        ? { kind: 'delay', ms: 700 }
        : null,
    );
    try {
      await visit.page.goto(path(ground));
      if (!path(ground).endsWith('/account'))
        await visit.page.locator('main [data-skeleton]').first().waitFor({ state: 'visible' });
      await atRest(visit);
    } finally {
      proxy.plan(() => null);
    }
    expect(await visit.page.evaluate<number>('__shift()')).toBeLessThan(MOST_SHIFT);
  });

  if (!read.test('GET /api/session'))
    browserTest('error: says so with the id of the request, and another try shows the page', async () => {
      const visit = await rig.visit(options);
      visit.allows(/: 500$/);
      proxy.plan((asked) =>
        read.test(`${asked.method} ${asked.path}`) ? { kind: 'answer', status: 500, code: 'internal' } : null,
      );
      try {
        await visit.page.goto(path(ground));
        const alert = visit.page.locator('main').getByRole('alert').first();
        await alert.waitFor();
        expect(await alert.innerText()).toMatch(/req_of_the_test/);
        // The rest of the page lives on.
        expect(await visit.page.getByRole('link', { name: 'Inbox' }).count()).toBeGreaterThan(0);
        expect(await axe(visit.page)).toEqual([]);
      } finally {
        proxy.plan(() => null);
      }
      const again = visit.page.locator('main').getByRole('button', { name: 'Try again' });
      while ((await again.count()) > 0) {
        await again.first().click();
        await atRest(visit);
      }
      expect(await visit.page.locator('main').getByRole('alert').count()).toBe(0);
    });

  if (unknown)
    browserTest('what is unknown and what is forbidden look alike', async () => {
      const visit = await rig.visit(options);
      visit.allows(/: 40[34]$/);
      const shown = async () =>
        (await textOf(visit.page, 'main')).replace(/request [\w-]+/g, 'request …').replaceAll(/\s+/g, ' ');
      await open(visit, unknown(ground));
      const missing = await shown();
      expect(missing).toMatch(/Not here/);
      proxy.plan((asked) =>
        read.test(`${asked.method} ${asked.path}`)
          ? { kind: 'answer', status: 403, code: 'forbidden' }
          : null,
      );
      try {
        await open(visit, unknown(ground));
        expect(await shown()).toBe(missing);
      } finally {
        proxy.plan(() => null);
      }
    });

  if (empty)
    browserTest('empty: says what to do', async () => {
      const base = { base: bare.base, state: bare.state };
      if (empty.of === 'app') bareApp ??= await makeApp(bare.client, 'New');
      const visit = await visitAt(rig, empty.path(bareApp?.id ?? ''), base);
      expect((await textOf(visit.page, 'main')).split(/\s+/).length).toBeGreaterThan(6);
      expect(await axe(visit.page)).toEqual([]);
    });

  browserTest('offline and back: the banner says so, and what is shown stays', async () => {
    const visit = await visitAt(rig, path(ground), options);
    visit.allows(/net::ERR/, /: 50\d$/);
    await visit.page.locator('[data-live="live"]').waitFor();
    const before = await textOf(visit.page, 'h1');
    await visit.context.setOffline(true);
    await visit.page.getByText(/^Offline\. This is from/).waitFor();
    expect(await textOf(visit.page, 'h1')).toBe(before);
    expect(await visit.page.locator('main').getByRole('alert').count()).toBe(0);
    await visit.context.setOffline(false);
    await visit.page.locator('[data-live="live"]').waitFor();
  });

  browserTest('expired: signing in goes on where the page was', async () => {
    const visit = await visitAt(rig, path(ground), options);
    visit.allows(/: 401$/, /stream.*: net::ERR/);
    await visit.context.clearCookies();
    proxy.cutStreams();
    const dialog = visit.page.getByRole('dialog', { name: /sign in/i });
    await dialog.waitFor();
    await visit.context.addCookies(ground.state.cookies);
    await visit.page.keyboard.press('Escape');
    expect(await dialog.count()).toBe(1);
  });
});
