/** Chromium for checks: a context per visit, and nothing that goes wrong in a page unnoticed. */
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { CHROMIUM_NAMES, findProgram } from '../harness/programs.ts';

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // The same glyphs on each machine.
  '--font-render-hinting=none',
  '--disable-lcd-text',
  '--force-color-profile=srgb',
];
const LIMIT_MS = 15_000;

export interface VisitOptions {
  base: string;
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  /** A signed-in session (page.ts). */
  state?: BrowserContextOptions['storageState'];
  /** For screenshots: no motion. */
  isStill?: boolean;
  /** A script that runs before those of each page. */
  trap?: string;
}

export interface Visit {
  base: string;
  context: BrowserContext;
  page: Page;
  /** Lets problems pass that match: `GET /api/session: 401`, `console: …`. */
  allows(...patterns: RegExp[]): void;
  /** Requests of any page that have no answer yet, streams and long polls apart. */
  pending(): string[];
  /** What went wrong so far, except what is allowed. */
  problems(): string[];
  /** Another tab of the same browser profile. */
  newTab(): Promise<Page>;
  /** Throws if there are problems. */
  close(): Promise<void>;
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = findProgram(CHROMIUM_NAMES);
  if (executablePath === null) throw new Error('Chromium is missing: sudo apt-get install -y chromium');
  return chromium.launch({
    executablePath,
    args: process.getuid!() === 0 ? ['--no-sandbox', ...FLAGS] : FLAGS,
  });
}

export async function openVisit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { base, width = 1280, height = 800, theme = 'light', state, isStill = false, trap } = options;
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width, height },
    deviceScaleFactor: 1,
    colorScheme: theme,
    reducedMotion: isStill ? 'reduce' : 'no-preference',
    locale: 'en-US',
    timezoneId: 'UTC',
    storageState: state,
  });
  context.setDefaultTimeout(LIMIT_MS);
  const watch = await watchContext(context);
  if (trap !== undefined) await context.addInitScript(trap);
  const page = await context.newPage();
  let isOpen = true;
  return {
    base,
    context,
    page,
    ...watch,
    newTab: () => context.newPage(),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await context.close();
      const problems = watch.problems();
      if (problems.length > 0) throw new Error(`The page had problems:\n${problems.join('\n')}`);
    },
  };
}

const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  window.__reportViolation(event.violatedDirective + ' blocked ' + event.blockedURI + ' ' + event.sample))`;

async function watchContext(
  context: BrowserContext,
): Promise<Pick<Visit, 'allows' | 'pending' | 'problems'>> {
  const problems = new Set<string>();
  const allowed: RegExp[] = [];
  const pending = new Map<object, string>();
  const nameOf = (method: string, url: string) => `${method} ${url.replace(/^https?:\/\/[^/]+/, '')}`;
  await context.exposeBinding('__reportViolation', (_, text: string) => void problems.add(`csp: ${text}`));
  await context.addInitScript(REPORT_VIOLATIONS);
  context
    .on('console', (message) => {
      // Failed requests have a line of their own below.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        problems.add(`console: ${message.text()}`);
    })
    .on('weberror', (error) => problems.add(`error: ${error.error().stack ?? String(error.error())}`))
    .on('request', (request) => {
      if (!isEndless(request.url())) pending.set(request, nameOf(request.method(), request.url()));
    })
    .on('requestfinished', (request) => pending.delete(request))
    .on('requestfailed', (request) => {
      pending.delete(request);
      const why = request.failure()?.errorText;
      // A page that leaves, or needs an answer no more, ends its requests.
      if (why !== 'net::ERR_ABORTED') problems.add(`${nameOf(request.method(), request.url())}: ${why}`);
    })
    .on('response', (response) => {
      if (response.status() >= 400)
        problems.add(`${nameOf(response.request().method(), response.url())}: ${response.status()}`);
    });
  return {
    allows: (...patterns) => void allowed.push(...patterns),
    pending: () => [...pending.values()],
    problems: () => [...problems].filter((problem) => !allowed.some((pattern) => pattern.test(problem))),
  };
}

/** Streams and long polls are open as long as a page is. */
const isEndless = (url: string) => /\/events\/stream|[?&]waitSeconds=/.test(url);
