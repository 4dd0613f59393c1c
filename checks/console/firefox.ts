/** Firefox for checks, by WebDriver BiDi: one page, and nothing that goes wrong in it unnoticed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from 'puppeteer-core';
import type { Frame, Page } from 'puppeteer-core';

const LIMIT_MS = 20_000;

export interface FirefoxVisit {
  page: Page;
  /** What went wrong so far. */
  problems(): string[];
  close(): Promise<void>;
}

const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('csp: ' + event.violatedDirective + ' blocked ' + event.blockedURI + ' ' + event.sample))`;

/** `allowed` are problems that a test expects, as in `Visit.allows`. */
export async function visitByFirefox(executablePath: string, allowed: RegExp[]): Promise<FirefoxVisit> {
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    defaultViewport: { width: 1280, height: 800 },
    // The service's pages are English; the machine may not be.
    extraPrefsFirefox: { 'intl.accept_languages': 'en-US' },
  });
  const problems = new Set<string>();
  let page: Page;
  try {
    page = await browser.newPage();
    await page.evaluateOnNewDocument(REPORT_VIOLATIONS);
  } catch (error) {
    await browser.close();
    throw error;
  }
  page
    .on('console', (message) => {
      if (message.type() === 'error') problems.add(`console: ${message.text()}`);
    })
    .on('pageerror', (error) => problems.add(`error: ${String(error)}`))
    .on('response', (response) => {
      if (response.status() >= 400)
        problems.add(
          `${response.request().method()} ${new URL(response.url()).pathname}: ${response.status()}`,
        );
    });
  return {
    page,
    problems: () => [...problems].filter((problem) => !allowed.some((pattern) => pattern.test(problem))),
    close: () => browser.close(),
  };
}

/**
 * Waits until an expression is true in the page, and returns its value. Puppeteer's own waits compile code in the
 * page, which the console's policy refuses in Firefox.
 */
export async function until<T>(page: Page | Frame, expression: string): Promise<T> {
  let fault = '';
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(50))
    try {
      const value = (await page.evaluate(expression)) as T | undefined;
      if (value) return value;
    } catch (error) {
      // A page that is being left has no answer.
      fault = String(error);
    }
  throw new Error(`${page.url()} never came to ${expression} ${fault}`);
}

/** Waits for an element. */
export const there = (page: Page, selector: string): Promise<boolean> =>
  until(page, `document.querySelector(${JSON.stringify(selector)}) !== null`);

/** Waits for a text that the page shows. */
export const seen = (page: Page | Frame, text: string): Promise<boolean> =>
  until(page, `document.body.innerText.includes(${JSON.stringify(text)})`);

/** Clicks with the mouse on the first element of this kind, with this text or label, that can be hit. */
export async function click(page: Page, selector: string, text = ''): Promise<void> {
  const [x, y] = await until<[number, number]>(
    page,
    `(() => {
      for (const el of document.querySelectorAll(${JSON.stringify(selector)})) {
        if (!(el.ariaLabel + ' ' + el.textContent).includes(${JSON.stringify(text)})) continue;
        el.scrollIntoView({ block: 'nearest' });
        const { left, top, width, height } = el.getBoundingClientRect();
        const place = [left + width / 2, top + height / 2];
        const hit = document.elementFromPoint(...place);
        if (hit && (el.contains(hit) || hit.contains(el))) return place;
      }
    })()`,
  );
  await page.mouse.click(x, y);
}
