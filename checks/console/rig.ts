/** The browser in tests: one per file, and each test ends with its visits closed and checked. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, inject, test } from 'vitest';
import { launchBrowser, openVisit } from './browser.ts';
import type { Visit, VisitOptions } from './browser.ts';

/** `test` where there is a Chromium; setup.ts says where it is skipped. */
export const browserTest = test.skipIf(!inject('hasChromium'));

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
