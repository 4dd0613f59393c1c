/**
 * The console in Chromium: its loading on a slow machine and line, changes of pages, keys, a large difference, busy
 * feeds, many tabs. Each next to a blank page.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../console/browser.ts';
import { makeApp, untilThread } from '../../console/ground.ts';
import type { App } from '../../console/ground.ts';
import { signedIn } from '../../console/page.ts';
import type { State } from '../../console/page.ts';
import { startProxy } from '../../console/proxy.ts';
import { percentile, summarize } from '../../harness/statistics.ts';
import type { Aim, Benchmark, Outcome, Row, Setup } from '../lib/benchmark.ts';
import {
  framesOfScroll,
  heapOf,
  keyTimes,
  longestTask,
  PROBE,
  untilSo,
  untilUsable,
} from '../lib/page-probe.ts';

const MBIT = 1_000_000 / 8;
const SLOW = { offline: false, latency: 20, downloadThroughput: 10 * MBIT, uploadThroughput: 10 * MBIT };
const SLOWER_CPU = 4;
const FILES = 10_000;
const TABS = 8;
const BUSY_THREADS = 10;
/** Each rename is two events: of the thread and of the operation. */
const RENAMES_PER_SECOND = 100;

interface Field {
  setup: Setup;
  browser: Browser;
  base: string;
  blank: string;
  state: State;
  client: Client;
  app: App;
  busy: { app: App; threads: string[] };
}
type Part = Omit<Outcome, 'notes'>;

export const consoleBenchmark: Benchmark = {
  name: 'console',
  title: 'The console in Chromium',
  async run(setup) {
    const field = await makeField(setup);
    const parts: Part[] = [];
    for (const [what, measure] of Object.entries({ loading, routes, keys, difference, feed, tabs })) {
      setup.say(what);
      parts.push(await measure(field));
    }
    return {
      rows: parts.flatMap(({ rows }) => rows),
      aims: parts.flatMap(({ aims }) => aims),
      notes: [
        `Loading: a ${SLOWER_CPU} times slower processor and a line of 10 Mbit/s with 20 ms. A page can be used when it has its heading and nothing loads. The blank page is a heading, served by a bare server.`,
        `The feed has ${2 * RENAMES_PER_SECOND} events a second, of one app; what is measured is the status of a thread in the sidebar, from the event's time to the change of the page, on one clock.`,
      ],
    };
  },
};

async function makeField(setup: Setup): Promise<Field> {
  const service = await setup.start();
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
    busy: await busyThreads(client),
  };
}

async function contextOf({ browser, state }: Field, baseURL: string) {
  const context = await browser.newContext({
    baseURL,
    storageState: state,
    viewport: { width: 1280, height: 800 },
  });
  await context.addInitScript(PROBE);
  return context;
}

const row = (what: string, values: number[], unit: Row['unit'] = 'ms'): Row => ({
  what,
  unit,
  figures: summarize(values),
});
const most = (what: string, value: number, [limit, unit]: [number, Aim['unit']]): Aim => ({
  what,
  bound: 'most',
  limit,
  value,
  unit,
});

async function loading(field: Field): Promise<Part> {
  const samples = field.setup.quick ? 2 : 10;
  const times: Record<'cold' | 'warm' | 'blank', number[]> = { cold: [], warm: [], blank: [] };
  const load = async (page: Page, path: string) => {
    await page.goto(path, { waitUntil: 'commit' });
    return untilUsable(page);
  };
  for (let i = 0; i < samples; i++) {
    for (const [base, path] of [
      [field.base, '/console/'],
      [field.blank, '/'],
    ] as const) {
      const context = await contextOf(field, base);
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('Network.emulateNetworkConditions', SLOW);
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER_CPU });
      times[path === '/' ? 'blank' : 'cold'].push(await load(page, path));
      if (path !== '/') times.warm.push(await load(page, path));
      await context.close();
    }
  }
  const rows = [
    row('first load, nothing cached', times.cold),
    row('loaded again', times.warm),
    row('a blank page, nothing cached', times.blank),
  ];
  const [cold, warm] = rows.map(({ figures }) => figures.median) as [number, number];
  return {
    rows,
    aims: [most('first load, p50', cold, [2_500, 'ms']), most('loaded again, p50', warm, [600, 'ms'])],
  };
}

/** Clicks the link and returns how long until the page is there, and how much of it was not waiting for the service. */
const GO = (name: string, heading: string) => `(async () => {
  const link = [...document.querySelectorAll('a')].find((a) => a.textContent.trim() === ${JSON.stringify(name)});
  const from = performance.now();
  link.click();
  const isThere = () => document.querySelector('main h1')?.textContent.trim() === ${JSON.stringify(heading)} &&
    document.querySelector('main [data-skeleton]') === null;
  while (!isThere()) await new Promise(requestAnimationFrame);
  const to = performance.now();
  const reads = performance.getEntriesByType('resource')
    .filter(({ name, startTime }) => name.includes('/api/') && !name.includes('/stream') && startTime >= from)
    .map(({ startTime, responseEnd }) => [startTime, Math.min(to, responseEnd || to)]).sort(([a], [b]) => a - b);
  let [waited, until] = [0, from];
  for (const [start, end] of reads) { waited += Math.max(0, end - Math.max(start, until)); until = Math.max(until, end); }
  return { all: to - from, own: to - from - waited };
})()`;

async function routes(field: Field): Promise<Part> {
  const samples = field.setup.quick ? 3 : 20;
  const cached: number[] = [];
  const fresh: number[] = [];
  for (let i = 0; i < samples; i++) {
    const context = await contextOf(field, field.base);
    const page = await context.newPage();
    await page.goto('/console/');
    await untilUsable(page);
    fresh.push((await page.evaluate<{ own: number }>(GO('Apps', 'Apps'))).own);
    await page.evaluate(GO('Inbox', 'Inbox'));
    cached.push((await page.evaluate<{ all: number }>(GO('Apps', 'Apps'))).all);
    await context.close();
  }
  const rows = [
    row('change of the page, its data cached', cached),
    row('change of the page, nothing cached, without the time of the service', fresh),
  ];
  return {
    rows,
    aims: [
      most('change of the page, cached, p95', rows[0]!.figures.p95, [100, 'ms']),
      most('change of the page, not cached, p95', rows[1]!.figures.p95, [300, 'ms']),
    ],
  };
}

async function keys(field: Field): Promise<Part> {
  const rounds = field.setup.quick ? 2 : 10;
  const { thread } = await field.client.threads.create(field.app.id, { title: 'Keys' });
  await untilThread(field.client, field.app, thread.id, ({ status }) => status === 'ready');
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  await page.goto('/console/');
  await untilUsable(page);
  const press = async (...names: string[]) => {
    for (const name of names) await page.keyboard.press(name);
  };
  for (let i = 0; i < rounds; i++) {
    await press('j', 'k', '?', 'Escape', 'ControlOrMeta+k');
    await page.getByRole('searchbox').waitFor();
    await press('c', 'h', 'e', 'ArrowDown', 'ArrowUp', 'Escape', 'g', 'a', 'g', 'i');
  }
  const any = await keyTimes(page);
  await page.goto(`/console/apps/${field.app.id}/threads/${thread.id}`);
  await untilUsable(page);
  const plain = await contextOf(field, field.blank);
  const blank = await plain.newPage();
  await blank.goto('/');
  const busy = busyFeed(field);
  const text = 'Make it blue, and the button round. '.repeat(rounds);
  const onBlank = await typedInto(blank, text);
  await longestTask(page);
  const typed = await typedInto(page, text);
  const task = await longestTask(page);
  await busy.stop();
  await plain.close();
  await context.close();
  const rows = [
    row('a key, to its frame', any),
    row('a key in the composer, feed busy', typed),
    row('a key in a field of a blank page, feed busy', onBlank),
    row('longest task while it is typed in', [task]),
  ];
  return {
    rows,
    aims: [
      most('a key, p75', percentile(any, 0.75), [100, 'ms']),
      most('a key, the worst', rows[0]!.figures.max, [200, 'ms']),
      most('a key in the composer, feed busy, p95', rows[1]!.figures.p95, [32, 'ms']),
      most('longest task while it is typed in', task, [100, 'ms']),
    ],
  };
}

async function typedInto(page: Page, text: string): Promise<number[]> {
  await page.bringToFront();
  await page.getByRole('textbox', { name: 'Message' }).focus();
  await keyTimes(page);
  await page.keyboard.type(text, { delay: 30 });
  return keyTimes(page);
}

async function difference(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const count = setup.quick ? 1_000 : FILES;
  const made = (word: string) => ({
    files: Array.from({ length: count }, (_, i) => ({
      path: `src/part-${Math.floor(i / 50)}/file-${i}.ts`,
      content: `const a = ${i};\nconst b = '${word}';\nexport const sum = a + b.length;\n`,
    })),
  });
  const from = await client.sources.import(app.id, made('before'));
  const to = await client.sources.import(app.id, made('after'));
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  await page.goto(`/console/apps/${app.id}/diff?from=${from.source.id}&to=${to.source.id}`, {
    waitUntil: 'commit',
  });
  const shown = await untilSo(
    page,
    `document.querySelector('main [role="treeitem"]') !== null && performance.now()`,
  );
  const bytes = await page.evaluate<number>(
    `Math.min(...performance.getEntriesByType('resource').filter(({ name }) => name.includes('/diff?')).map((entry) => entry.responseEnd).filter(Boolean))`,
  );
  await untilUsable(page);
  const session = await context.newCDPSession(page);
  const scroll = await framesOfScroll(page, setup.quick ? 20 : 100);
  const task = await longestTask(page);
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length');
  const heap = await heapOf(session);
  await context.close();
  const plain = await contextOf(field, field.blank);
  const blank = await plain.newPage();
  await blank.goto('/');
  const blankScroll = await framesOfScroll(blank, setup.quick ? 20 : 100);
  await plain.close();
  const name = `difference of ${count.toLocaleString('en')} files`;
  const p95 = summarize(scroll).p95 / summarize(blankScroll).p95;
  return {
    rows: [
      row(`${name}: the list, after the last byte`, [shown - bytes]),
      row(`${name}: longest task`, [task]),
      row(`${name}: elements of the page`, [nodes], 'objects'),
      row(`${name}: heap`, [heap], 'KiB'),
      row(`${name}: a frame of scrolling`, scroll),
      row('a blank page: a frame of scrolling', blankScroll),
    ],
    aims: [
      most(`${name}: list`, shown - bytes, [300, 'ms']),
      most(`${name}: longest task`, task, [200, 'ms']),
      most(`${name}: elements`, nodes, [1_500, 'objects']),
      most(`${name}: heap`, heap, [150 * 1024, 'KiB']),
      most(`${name}: scrolling, p95, against a blank page`, p95, [2, '×']),
    ],
  };
}

/** Threads that are prepared: later, their preparation would be measured too. */
async function busyThreads(client: Client): Promise<Field['busy']> {
  const app = await makeApp(client, 'Busy');
  const threads: string[] = [];
  for (let i = 0; i < BUSY_THREADS; i++) {
    const { thread } = await client.threads.create(app.id, { title: `Busy ${i}` });
    await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
    threads.push(thread.id);
  }
  return { app, threads };
}

/** Renames threads until stopped. */
function busyFeed({ client, busy: { app, threads } }: Field): { stop(): Promise<void> } {
  const state = { isOn: true };
  const work = (async () => {
    const from = performance.now();
    await Promise.all(
      threads.map(async (id, lane) => {
        for (let i = 0; state.isOn; i++) {
          await client.threads.update(app.id, id, { title: `Busy ${lane}, ${i}` });
          const due = from + (i * 1000 * threads.length) / RENAMES_PER_SECOND;
          await new Promise((resolve) => {
            setTimeout(resolve, Math.max(0, due - performance.now()));
          });
        }
      }),
    );
  })();
  return {
    stop() {
      state.isOn = false;
      return work;
    },
  };
}

/** Notes when the status of each thread in the sidebar changes, by the clock of the machine. */
const WATCH = `(() => { window.__changes = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const link = target.closest?.('a[href*="/threads/"]');
      if (link) window.__changes.push([link.getAttribute('href').split('/').at(-1), target.getAttribute('aria-label'), Date.now()]);
    }
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['aria-label'] }); })()`;

async function feed(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const seconds = setup.quick ? 8 : 60;
  const { thread } = await client.threads.create(app.id, { title: 'Watched' });
  await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
  const cursor = await client.events.head({ appId: app.id, threadId: thread.id });
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  let requests = 0;
  page.on('request', () => requests++);
  await page.goto('/console/account');
  await page.locator('[data-live="live"]').waitFor();
  await page.locator(`a[href*="${thread.id}"]`).waitFor();
  await page.evaluate(WATCH);
  const session = await context.newCDPSession(page);
  const before = await heapOf(session);
  await longestTask(page);
  requests = 0;
  const busy = busyFeed(field);
  for (const end = performance.now() + seconds * 1000; performance.now() < end;)
    await client.messages.send(app.id, thread.id, { content: 'Nothing to do.' }).done();
  await busy.stop();
  const task = await longestTask(page);
  const perSecond = requests / seconds;
  const grown = (await heapOf(session)) - before;
  const changes = await page.evaluate<[string, string, number][]>('window.__changes');
  await context.close();
  // The same statuses, from the log.
  const sent: [string, number][] = [];
  for await (const event of client.events.replay({ appId: app.id, threadId: thread.id }, { cursor }))
    if (event.type === 'thread.updated')
      sent.push([(event.data as { status: string }).status, Date.parse(event.occurredAt)]);
  const own = changes.filter(([id]) => id === thread.id);
  const lags: number[] = [];
  let at = 0;
  for (const [, status, seen] of own) {
    while (
      at < sent.length &&
      (sent[at]![0] !== status || (sent[at + 1]?.[0] === status && sent[at + 1]![1] <= seen))
    )
      at++;
    if (at < sent.length) lags.push(seen - sent[at++]![1]);
  }
  const rows = [row('an event, to the change of the page', lags), row('longest task of that time', [task])];
  return {
    rows: [
      ...rows,
      row('requests a second meanwhile', [perSecond], 'requests/s'),
      row('growth of the heap meanwhile', [Math.max(0, grown)], 'KiB'),
    ],
    aims: [
      most('an event, to the change of the page, p95', rows[0]!.figures.p95, [250, 'ms']),
      most('longest task under a busy feed', task, [100, 'ms']),
      most('requests in ten seconds under a busy feed', perSecond * 10, [20, 'objects']),
      most('growth of the heap under a busy feed', grown, [20 * 1024, 'KiB']),
    ],
  };
}

async function tabs(field: Field): Promise<Part> {
  const proxy = await startProxy(field.base);
  field.setup.atEnd(() => proxy.close());
  const context = await contextOf(field, proxy.base);
  const times: number[] = [];
  for (let i = 0; i < TABS; i++) {
    const page = await context.newPage();
    await page.goto('/console/', { waitUntil: 'commit' });
    times.push(await untilUsable(page));
    await page.locator('[data-live="live"]').waitFor();
  }
  await context.close();
  const { most: streams } = proxy.streams();
  return {
    rows: [
      row(`each of ${TABS} tabs of a browser, loaded`, times),
      row('streams of all tabs', [streams], 'objects'),
    ],
    aims: [
      most(`the slowest of ${TABS} tabs`, Math.max(...times), [1_000, 'ms']),
      most('streams of all tabs', streams, [3, 'objects']),
    ],
  };
}
