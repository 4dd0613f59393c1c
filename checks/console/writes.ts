/** The writes of the console and what may go wrong with each, for the test that drives them all. */
import type { Page } from 'playwright-core';
import type { Visit } from './browser.ts';
import type { Ground } from './ground.ts';
import type { Fault } from './proxy.ts';

export interface Bench {
  ground: Ground;
  /** A visit through the proxy that shows this path and is at rest. */
  at(path: string, state?: Ground['state']): Promise<Visit>;
}

/** A write on a page that is ready for it. */
export interface Act {
  page: Page;
  /** Does it, from the button on: more than once. */
  press(): Promise<void>;
  /** What a person has typed. */
  kept?(): Promise<unknown>;
  /** How often the service has done it. */
  done(): Promise<number>;
}

export interface Write {
  name: string;
  /** `POST /api/…` of the request. */
  asks: RegExp;
  /** A field of its body that the page shows. */
  field?: string;
  /** What the page says of an answer in words of its own. */
  says?: Record<number, RegExp>;
  /** Twice is the same as once: each try has a key of its own. */
  isHarmless?: boolean;
  /** Every fault, not some. */
  isWhole?: boolean;
  begin(bench: Bench): Promise<Act>;
}

export interface Trouble {
  name: string;
  status: number;
  fault: Fault;
  /** What happened and what to do. */
  says: RegExp;
  /** Whether the next try is the same write. */
  isRetried: boolean;
}

/** More than the client waits for by itself. */
const WAIT_SECONDS = 90;

const refusal = (status: number, code: string, says: RegExp): Trouble => ({
  name: `${status}`,
  status,
  fault: { kind: 'answer', status, code },
  says,
  isRetried: false,
});

const later = (status: number, code: string, says: RegExp): Trouble => ({
  ...refusal(status, code, says),
  fault: { kind: 'answer', status, code, retryAfterSeconds: WAIT_SECONDS },
  isRetried: true,
});

export const REFUSALS: Trouble[] = [
  refusal(400, 'invalid_request', /The test answers with 400/),
  refusal(403, 'forbidden', /The test answers with 403\. An owner or admin/),
  refusal(404, 'thread_not_found', /The test answers with 404\. It may be gone: reload the page/),
  refusal(409, 'thread_busy', /The test answers with 409\. Look at how it is now, then try again/),
  refusal(413, 'request_too_large', /The test answers with 413\. Make it smaller/),
];

export const RETRIED: Trouble[] = [
  {
    name: 'the page of a proxy',
    status: 502,
    fault: { kind: 'page', status: 502 },
    says: /may have done it\. Try again|Something before it did \(status 502\)\. Try again/,
    isRetried: true,
  },
  // Between two that the page may say the same of: a line that is still there from the first would pass for the other's.
  later(503, 'unavailable', /The test answers with 503\. Try again in a moment/),
  {
    name: 'a lost connection',
    status: 0,
    fault: { kind: 'refuse' },
    says: /may have done it\. Try again|Check the connection, then try again/,
    isRetried: true,
  },
  // Last: the page then waits with its reads, too.
  later(429, 'rate_limited', /asks you to wait 90 s\. Try again then/),
];

/** What a field says that is refused. */
export const FIELD_SAYS = /is not what the test wants/;

export const press = (page: Page, name: string | RegExp) =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click();

/** The button, then the one of the same name in the dialog that asks. */
export async function confirm(page: Page, name: string, verb = name): Promise<void> {
  await press(page, name);
  await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
}

/** An item of the menu of a thread. */
export async function choose(page: Page, item: string): Promise<void> {
  await press(page, 'More about this thread');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}
