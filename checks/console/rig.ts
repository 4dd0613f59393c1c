/** The browser in tests: one per file, and each test ends with its visits closed and checked. */
import { createClient } from '@headrace/client';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, inject, test } from 'vitest';
import { launchBrowser, openVisit } from './browser.ts';
import type { Visit, VisitOptions } from './browser.ts';
import type { Site } from './ground.ts';

/** `test` where there is a Chromium; setup.ts says where it is skipped. */
export const browserTest = test.skipIf(!inject('hasChromium'));

/** The service that files share, to be called in a hook: each file makes apps of its own, and counts no others. */
export function sharedSite(): Site {
  const { base, key, state } = inject('shared')!;
  return { base, state, client: createClient({ baseUrl: base, key }) };
}

export interface Rig {
  browser(): Browser;
  visit(options: VisitOptions): Promise<Visit>;
}

/** Registers the hooks. */
export function useBrowser(): Rig {
  let browser: Browser;
  const visits = new Set<Visit>();
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    const open = [...visits];
    visits.clear();
    const ends = await Promise.allSettled(open.map((visit) => visit.close()));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });
  afterAll(() => browser?.close());
  return {
    browser: () => browser,
    async visit(options) {
      const visit = await openVisit(browser, options);
      visits.add(visit);
      return visit;
    },
  };
}
