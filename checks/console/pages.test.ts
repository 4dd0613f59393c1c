/**
 * Every page: without violations of WCAG in both themes, no wider than a phone, opened with few requests; of one page
 * some states, and of all pages each state in `long/`.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openVisit } from './browser.ts';
import type { Visit } from './browser.ts';
import { KINDS } from './conflicts.ts';
import { faultsOfLook, open } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';
import { PAGES } from './scenes.ts';
import { failed, loading, setStage } from './states.ts';
import type { Stage } from './states.ts';

/**
 * Of the API, to open a page with nothing cached: twelve, and two for the second feed. A stream begins at an end that is
 * known: else what was read before it could not be told from what has to be read again.
 */
const MOST_REQUESTS = 14;

const rig = useBrowser();
let stage: Stage;
beforeAll(async () => {
  stage = await setStage(rig);
}, 90_000);
afterAll(() => stage?.close());

describe('the ground', () => {
  browserTest('has an apply with all seven kinds of conflict', () => {
    const kinds = new Set(stage.ground.conflict.preview.conflicts.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual([...KINDS].toSorted());
  });

  browserTest('has threads, builds and a preview in the states that pages show', () => {
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

describe('clean to axe in both themes, fits a phone, asks little', () => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await openVisit(rig.browser(), stage.options);
  });
  afterAll(() => visit?.close());

  browserTest.each(PAGES)('$name', async ({ path }) => {
    const { proxy } = stage;
    proxy.forget();
    // A problem of one page is not one of all that follow.
    const before = visit.problems();
    await open(visit, path(stage.ground));
    const asked = proxy.asked().filter((one) => one.path.startsWith('/api/'));
    expect(await faultsOfLook(visit)).toEqual([]);
    expect(asked.length, asked.map((one) => `${one.method} ${one.path}`).join('\n')).toBeLessThanOrEqual(
      MOST_REQUESTS,
    );
    expect(visit.problems().filter((problem) => !before.includes(problem))).toEqual([]);
  });
});

describe('the inbox', () => {
  const inbox = PAGES.find(({ name }) => name === 'inbox')!;
  browserTest('loading', () => loading(stage, inbox));
  browserTest('error', () => failed(stage, inbox));
});
