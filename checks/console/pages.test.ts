/** Every page, without violations of WCAG in both themes, and no wider than a phone; of one page each state. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openVisit } from './browser.ts';
import type { Visit } from './browser.ts';
import { KINDS } from './conflicts.ts';
import { atRest, axe, goTo, open, tooWide } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';
import { PAGES } from './scenes.ts';
import { empty, expired, failed, loading, offline, setStage, unknown } from './states.ts';
import type { Stage } from './states.ts';

const WIDTHS = [360, 320];
/** Of the others in `long/`. */
const WITH_STATES = ['inbox'];

const rig = useBrowser();
let stage: Stage;
beforeAll(async () => {
  stage = await setStage(rig);
}, 90_000);
afterAll(() => stage?.close());

describe('the ground', () => {
  test('has an apply with all seven kinds of conflict', () => {
    const kinds = new Set(stage.ground.conflict.preview.conflicts.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual([...KINDS].toSorted());
  });

  test('has threads, builds and a preview in the states that pages show', () => {
    const { threads, builds, preview } = stage.ground;
    expect(Object.fromEntries(Object.entries(threads).map(([name, { status }]) => [name, status]))).toEqual({
      completed: 'ready',
      running: 'running',
      waiting: 'waiting',
      failed: 'failed',
      queued: 'queued',
      archived: 'archived',
    });
    expect([builds.ready.status, builds.failed.status, builds.building.status]).toEqual([
      'ready',
      'failed',
      'building',
    ]);
    expect(preview.status).toBe('ready');
  });
});

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
