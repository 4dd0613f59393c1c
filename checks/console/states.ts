/** The states that every page has, each made by the real service or by a broken connection. */
import { expect } from 'vitest';
import { makeApp, startGround, startWholeGround } from './ground.ts';
import type { Ground, WholeGround } from './ground.ts';
import { OWNER } from '../harness/service.ts';
import { atRest, axe, open, textOf, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Fault, Proxy } from './proxy.ts';
import type { Rig } from './rig.ts';
import type { Visit } from './browser.ts';
import type { PageScene } from './scene.ts';

export interface Stage {
  rig: Rig;
  ground: WholeGround;
  /** A service without apps, started when it is first asked for. */
  bare(): Promise<Ground>;
  /** An app of the ground without any work. */
  newAppId: string;
  proxy: Proxy;
  options: { base: string; state: Ground['state'] };
  close(): Promise<void>;
}

export async function setStage(rig: Rig): Promise<Stage> {
  const ground = await startWholeGround();
  let bare: Promise<Ground> | undefined;
  const proxy = await startProxy(ground.base);
  return {
    rig,
    ground,
    bare: () => (bare ??= startGround()),
    proxy,
    newAppId: (await makeApp(ground.client, 'New')).id,
    options: { base: proxy.base, state: ground.state },
    async close() {
      await proxy.close();
      await Promise.all([ground.stop(), bare?.then((started) => started.stop())]);
    },
  };
}

type Show = (stage: Stage, page: PageScene) => Promise<void>;

/** A page that is loaded may move by this share of the window: none that a person would notice. */
const MOST_SHIFT = 0.05;
const SHIFTS = `(() => { let sum = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  window.__shift = () => sum; })()`;

/** Skeletons hold the place of what comes. */
export const loading: Show = async ({ rig, ground, proxy, options }, { path, read }) => {
  const visit = await rig.visit({ ...options, trap: SHIFTS });
  const seen = Promise.withResolvers<void>();
  await during(proxy, { read, fault: { kind: 'after', until: () => seen.promise } }, async () => {
    try {
      await visit.page.goto(path(ground));
      await visit.page.locator('main [data-skeleton]').first().waitFor({ state: 'visible' });
    } finally {
      seen.resolve();
    }
    await atRest(visit);
  });
  expect(await visit.page.evaluate<number>('__shift()')).toBeLessThan(MOST_SHIFT);
};

/** It says what failed, with the id of the request, and another try shows the page. */
export const failed: Show = async ({ rig, ground, proxy, options }, { path, read }) => {
  const visit = await rig.visit(options);
  visit.allows(/: 500$/);
  const main = visit.page.locator('main');
  await during(proxy, { read, fault: { kind: 'answer', status: 500, code: 'internal' } }, async () => {
    await visit.page.goto(path(ground));
    await main.getByRole('alert').filter({ hasText: 'req_of_the_test' }).first().waitFor();
    // The rest of the page lives on.
    expect(await visit.page.getByRole('link', { name: 'Inbox' }).count()).toBeGreaterThan(0);
    expect(await axe(visit.page)).toEqual([]);
  });
  const again = main.getByRole('button', { name: 'Try again' });
  while ((await again.count()) > 0) {
    await again.first().click();
    await atRest(visit);
  }
  expect(await alertsOf(visit)).toEqual([]);
};

/** What is unknown and what is forbidden look alike. */
export const unknown: Show = async ({ rig, ground, proxy, options }, page) => {
  const visit = await rig.visit(options);
  visit.allows(/: 40[34]$/);
  const shown = async () =>
    (await textOf(visit.page, 'main')).replace(/request [\w-]+/g, 'request …').replaceAll(/\s+/g, ' ');
  await open(visit, page.unknown!(ground));
  const missing = await shown();
  expect(missing).toMatch(/Not here/);
  await during(
    proxy,
    { read: page.read, fault: { kind: 'answer', status: 403, code: 'forbidden' } },
    async () => {
      await open(visit, page.unknown!(ground));
      expect(await shown()).toBe(missing);
    },
  );
};

/** It says what to do. */
export const empty: Show = async ({ rig, ground, bare, newAppId }, page) => {
  const [{ base, state }, path] =
    typeof page.empty === 'function' ? [ground, page.empty(newAppId)] : [await bare(), page.path(ground)];
  const visit = await visitAt(rig, path, { base, state });
  expect((await textOf(visit.page, 'main')).split(/\s+/).length).toBeGreaterThan(6);
  expect(await axe(visit.page)).toEqual([]);
};

/** The banner says so, what is shown stays, and the page goes on by itself. */
export const offline: Show = async ({ rig, ground, options }, { path }) => {
  const visit = await visitAt(rig, path(ground), options);
  visit.allows(/net::ERR/, /: 50\d$/);
  await visit.page.locator('[data-live="live"]').waitFor();
  const before = await textOf(visit.page, 'h1');
  await visit.context.setOffline(true);
  await visit.page.getByText(/^Offline\. This is from/).waitFor();
  expect(await textOf(visit.page, 'h1')).toBe(before);
  expect(await alertsOf(visit)).toEqual([]);
  await visit.context.setOffline(false);
  await visit.page.locator('[data-live="live"]').waitFor();
};

/** Whoever signs in again goes on where the page was. */
export const expired: Show = async ({ rig, ground, proxy, options }, { path }) => {
  const visit = await visitAt(rig, path(ground), options);
  visit.allows(/: 401$/, /stream.*: net::ERR/);
  const { page } = visit;
  const [address, heading] = [page.url(), await textOf(page, 'h1')];
  await visit.context.clearCookies();
  proxy.cutStreams();
  const dialog = page.getByRole('dialog', { name: /sign in/i });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(1);
  await dialog.getByLabel(/password/i).fill(OWNER.password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('[data-live="live"]').waitFor();
  expect([page.url(), await textOf(page, 'h1')]).toEqual([address, heading]);
};

/** What alerts say; a region for later ones says nothing. */
const alertsOf = async ({ page }: Visit) =>
  (await page.locator('main').getByRole('alert').allInnerTexts()).filter((text) => text.trim() !== '');

/** While `work` goes on, the reads of a page meet the fault. */
async function during(
  proxy: Proxy,
  { read, fault }: { read: RegExp; fault: Fault },
  work: () => Promise<void>,
): Promise<void> {
  proxy.plan(({ method, path, isStream }) =>
    !isStream && path.startsWith('/api/') && read.test(`${method} ${path}`) ? fault : null,
  );
  try {
    await work();
  } finally {
    proxy.plan(() => null);
  }
}
