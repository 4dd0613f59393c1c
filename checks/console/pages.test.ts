/** Every page, without violations of WCAG in both themes, and no wider than a phone; of two pages each state. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openVisit } from './browser.ts';
import type { Visit } from './browser.ts';
import { atRest, axe, goTo, open, tooWide } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';
import { PAGES } from './scenes.ts';
import { empty, expired, failed, loading, offline, setStage, unknown } from './states.ts';
import type { Stage } from './states.ts';

const WIDTHS = [360, 320];
/** Of the others in `long/`. */
const WITH_STATES = ['inbox', 'thread'];

const rig = useBrowser();
let stage: Stage;
beforeAll(async () => {
  stage = await setStage(rig);
}, 90_000);
afterAll(() => stage?.close());

describe('clean to axe in both themes, and fits a phone', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await openVisit(rig.browser(), stage.options);
    await open(visit, '/console/');
  });
  afterAll(() => visit?.close());

  browserTest.each(PAGES)('$name', async ({ path }) => {
    const { page } = visit;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 800 });
    await goTo(visit, path(stage.ground));
    expect(await axe(page), 'light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axe(page), 'dark').toEqual([]);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 640 });
      await atRest(visit);
      expect(await tooWide(page), `${width} px`).toEqual([]);
    }
    expect(visit.problems()).toEqual([]);
  });
});

describe.each(PAGES.filter(({ name }) => WITH_STATES.includes(name)))('$name', (page) => {
  browserTest('loading', () => loading(stage, page));
  browserTest('error', () => failed(stage, page));
  if (page.unknown) browserTest('unknown and forbidden', () => unknown(stage, page));
  if (page.empty) browserTest('empty', () => empty(stage, page));
  browserTest('offline', () => offline(stage, page));
  browserTest('expired', () => expired(stage, page));
});
