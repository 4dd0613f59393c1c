/** Every page in each of its states, and how its other scenes look. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { faultsOfLook, visitAt } from '../page.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { PAGES, SCENES } from '../scenes.ts';
import { empty, expired, failed, loading, offline, setStage, unknown } from '../states.ts';
import type { Stage } from '../states.ts';

const rig = useBrowser();
let stage: Stage;
beforeAll(async () => {
  stage = await setStage(rig);
});
afterAll(() => stage?.close());

describe.each(PAGES)('$name', (page) => {
  browserTest('loading', () => loading(stage, page));
  browserTest('error', () => failed(stage, page));
  if (page.unknown) browserTest('unknown and forbidden', () => unknown(stage, page));
  if (page.empty) browserTest('empty', () => empty(stage, page));
  browserTest('offline', () => offline(stage, page));
  browserTest('expired', () => expired(stage, page));
});

describe('clean to axe in both themes, fits a phone', () => {
  browserTest.each(SCENES.slice(PAGES.length))('$name', async ({ path, prepare }) => {
    const visit = await visitAt(rig, path(stage.ground), stage.options);
    visit.allows(/: 404$/, /\/search\?.*: 400$/, /^console: .*“status” can only be/);
    await prepare?.(visit);
    expect(await faultsOfLook(visit)).toEqual([]);
  });
});
