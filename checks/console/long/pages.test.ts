/** Every page in each of its states. */
import { afterAll, beforeAll, describe } from 'vitest';
import { browserTest, useBrowser } from '../rig.ts';
import { PAGES } from '../scenes.ts';
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
