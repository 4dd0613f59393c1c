/** What the measurements of the console share: a service with an app, Chromium, and a blank page to compare with. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../../../console/browser.ts';
import { makeApp } from '../../../console/ground.ts';
import type { App } from '../../../console/ground.ts';
import { signedIn } from '../../../console/page.ts';
import type { State } from '../../../console/page.ts';
import type { Service } from '../../../harness/service.ts';
import { summarize } from '../../../harness/statistics.ts';
import type { Aim, Outcome, Row, Setup } from '../../lib/benchmark.ts';
import { PROBE } from '../../lib/page-probe.ts';

export interface Field {
  setup: Setup;
  browser: Browser;
  base: string;
  blank: string;
  state: State;
  client: Client;
  app: App;
}
export type Part = Omit<Outcome, 'notes'>;

export async function makeField(setup: Setup, service: Service): Promise<Field> {
  const browser = await launchBrowser();
  setup.atEnd(() => browser.close());
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(
      `<!doctype html><title>Blank</title><main><h1>Blank</h1><textarea aria-label="Message"></textarea><p style="height: 400000px">Text</p></main>`,
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  setup.atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const client = createClient({ baseUrl: service.base, key: service.key });
  const app = await makeApp(client);
  for (let i = 0; i < 8; i++) await client.threads.create(app.id, { title: `Thread ${i}` });
  return {
    setup,
    browser,
    base: service.base,
    blank: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state: await signedIn(service.base),
    client,
    app,
  };
}

/** What each of them measures, one after the other. */
export async function measured<F extends Field>(
  field: F,
  measures: Record<string, (field: F) => Promise<Part>>,
): Promise<Part> {
  const parts: Part[] = [];
  for (const [what, measure] of Object.entries(measures)) {
    field.setup.say(what);
    parts.push(await measure(field));
  }
  return { rows: parts.flatMap(({ rows }) => rows), aims: parts.flatMap(({ aims }) => aims) };
}

export async function contextOf({ browser, state }: Field, baseURL: string): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL,
    storageState: state,
    viewport: { width: 1280, height: 800 },
  });
  await context.addInitScript(PROBE);
  return context;
}

export const row = (what: string, values: number[], unit: Row['unit'] = 'ms'): Row => ({
  what,
  unit,
  figures: summarize(values),
});
export const most = (what: string, value: number, [limit, unit]: [number, Aim['unit']]): Aim => ({
  what,
  bound: 'most',
  limit,
  value,
  unit,
});

/** When the last byte was there of what a page has read from addresses with one of these. */
export const bytesAt = (page: Page, ...parts: string[]): Promise<number> =>
  page.evaluate<number>(
    `Math.max(...performance.getEntriesByType('resource').filter(({ name }) => ${JSON.stringify(parts)}.some((part) => name.includes(part))).map((entry) => entry.responseEnd))`,
  );
