/** What a test does with a page of the console. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { OWNER } from '../harness/service.ts';
import type { Visit, VisitOptions } from './browser.ts';
import type { Rig } from './rig.ts';

const LIMIT_MS = 15_000;
/** No request begins within this time. */
const REST_MS = 120;

export type State = Exclude<VisitOptions['state'], string | undefined>;

/** Signs in on the page as a person does. The visit ends where it was asked for. */
export async function signInByHand(visit: Visit, path = '/console/'): Promise<void> {
  // Nobody is signed in yet, which the page has to find out.
  visit.allows(/\/api\/session.*: 401/);
  const { page } = visit;
  await page.goto(path);
  await page.getByLabel(/e-?mail/i).fill(OWNER.email);
  await page.getByLabel(/password/i).fill(OWNER.password);
  await page.getByRole('button', { name: /sign in/i }).click();
  await page.getByLabel(/password/i).waitFor({ state: 'detached' });
  await atRest(visit);
}

/** The owner's session at the service, for visits; signed in over the API. */
export async function signedIn(base: string, { email, password } = OWNER): Promise<State> {
  const { hostname } = new URL(base);
  const response = await fetch(`${base}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: base },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok) throw new Error(`The sign-in was answered ${response.status}: ${await response.text()}`);
  const cookies = response.headers.getSetCookie().map((line) => {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    return {
      name: name!,
      value: value!,
      domain: hostname,
      path: '/',
      expires: -1,
      httpOnly: true,
      secure: false,
      sameSite: 'Lax' as const,
    };
  });
  return { cookies, origins: [] };
}

/** A visit that shows this path and is at rest. */
export async function visitAt(rig: Rig, path: string, options: VisitOptions): Promise<Visit> {
  const visit = await rig.visit(options);
  await open(visit, path);
  return visit;
}

export async function open(visit: Visit, path: string, page = visit.page): Promise<void> {
  await page.goto(path);
  await atRest(visit, page);
}

/** As `open`, by the page's own router: what is loaded stays. */
export async function goTo(visit: Visit, path: string, page = visit.page): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
  await atRest(visit, page);
}

const IS_BUSY = `(() => {
  const root = document.getElementById('root');
  if (!root || root.childElementCount === 0) return 'nothing is shown';
  const busy = document.querySelector('[aria-busy="true"], [data-skeleton], [data-loading]');
  return busy ? 'loading: ' + busy.outerHTML.slice(0, 200) : '';
})()`;

/** Waits until nothing loads: no skeleton is shown and no request is under way, streams apart. */
export async function atRest(visit: Visit, page = visit.page): Promise<void> {
  let quietSince = performance.now();
  let why = '';
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(30)) {
    why = visit.pending().join(', ') || (await page.evaluate<string>(IS_BUSY).catch(String));
    if (why !== '') quietSince = performance.now();
    else if (performance.now() - quietSince >= REST_MS) return;
  }
  throw new Error(`${page.url()} does not come to rest: ${why}`);
}

interface Violation {
  id: string;
  impact: string;
  help: string;
  nodes: { target: string[]; html: string; failureSummary: string }[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What axe finds against WCAG 2.2 AA, one line per place. It enters by the debugger, so that the page's policy holds. */
export async function axe(page: Page, rules: object = { type: 'tag', values: TAGS }): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`${AXE}; undefined`);
  // What React Aria has told a screen reader points for seconds to buttons that are gone.
  const violations = await page.evaluate<Violation[]>(
    `axe.run({ exclude: ['[data-live-announcer]'] }, { iframes: false, resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} }).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, html, failureSummary }) =>
        `${id} (${help}) at ${target.join(' ')}: ${html.slice(0, 160)}\n  ${failureSummary.replaceAll('\n', ' ')}`,
    ),
  );
}

/** What is wider than the window, unless it scrolls within a box of its own. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isBoxed = (el) => {
      for (let at = el.parentElement; at && at !== document.body; at = at.parentElement)
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return true;
      return false;
    };
    const wide = [...document.body.querySelectorAll('*')].filter(
      (el) => el.getBoundingClientRect().right > clientWidth + 1 && !isBoxed(el));
    return ['page: ' + scrollWidth + ' > ' + clientWidth,
      ...wide.slice(0, 5).map((el) => el.outerHTML.slice(0, 160))];
  })()`);
}

const PHONE = 320;
/** A theme changes nothing else. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** What is wrong with how a page looks: by axe in both themes, and where it is wider than a phone. */
export async function faultsOfLook(visit: Visit): Promise<string[]> {
  const { page } = visit;
  const size = page.viewportSize()!;
  const faults: string[] = [];
  faults.push(...(await axe(page)));
  await page.emulateMedia({ colorScheme: 'dark' });
  faults.push(...(await axe(page, COLOURS)).map((fault) => `dark: ${fault}`));
  await page.setViewportSize({ width: PHONE, height: 640 });
  await atRest(visit);
  faults.push(...(await tooWide(page)).map((fault) => `${PHONE} px: ${fault}`));
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}

/** What has the focus: its role or tag, and its name. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const el = document.activeElement;
    if (!el || el === document.body) return 'body';
    const name = el.getAttribute('aria-label') ?? el.labels?.[0]?.textContent ?? el.textContent ?? '';
    return (el.getAttribute('role') ?? el.tagName.toLowerCase()) + ' ' + name.trim().slice(0, 80);
  })()`);
}

/** Presses Tab until what has the focus matches. Returns how often. Throws after 80 times. */
export async function tabTo(page: Page, wanted: RegExp): Promise<number> {
  const passed: string[] = [];
  for (let i = 1; i <= 80; i++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (wanted.test(now)) return i;
    passed.push(now);
  }
  throw new Error(`Tab never came to ${wanted}, only to:\n${passed.slice(0, 30).join('\n')}`);
}

/** The text that a page shows, as a reader sees it. */
export const textOf = (page: Page, selector = 'body'): Promise<string> => page.locator(selector).innerText();
