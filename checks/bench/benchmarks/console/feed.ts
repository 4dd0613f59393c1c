/**
 * A page under a busy feed, for a minute. `FEED_MINUTES` is the environment's: 10 shows what grows slowly, and takes
 * more than the run of all benchmarks has.
 */
import type { Client } from '@headrace/client';
import { makeApp, untilThread } from '../../../console/ground.ts';
import type { App } from '../../../console/ground.ts';
import { heapOf, longestTask } from '../../lib/page-probe.ts';
import { contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

const BUSY_THREADS = 10;
/** Each rename is two events: of the thread and of the operation. */
export const RENAMES_PER_SECOND = 100;

export interface BusyField extends Field {
  busy: { app: App; threads: string[] };
}

/** Threads that are prepared: later, their preparation would be measured too. */
export async function busyThreads(client: Client): Promise<BusyField['busy']> {
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
export function busyFeed({ client, busy: { app, threads } }: BusyField): { stop(): Promise<void> } {
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

/** A status, and when it was said. */
type Said = [status: string, at: number];

/** Other events of a thread repeat its status. */
const isNew = ([status]: Said, i: number, all: Said[]) => status !== all[i - 1]?.[0];

/**
 * How much later the page has shown each status. It may leave out one that is over soon: from the end on, each belongs
 * to the latest event before it that no later one has.
 */
function lagsOf(sent: Said[], shown: Said[]): number[] {
  let next = sent.length;
  return shown.toReversed().map(([status, seen]) => {
    next = sent.findLastIndex(([said, at], i) => i < next && said === status && at <= seen);
    if (next === -1) throw new Error(`The page shows ${status} before its event`);
    return seen - sent[next]![1];
  });
}

export async function feed(field: BusyField): Promise<Part> {
  const { client, app, setup } = field;
  const seconds = setup.quick ? 8 : 60 * Number(process.env['FEED_MINUTES'] ?? 1);
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
  const sent: Said[] = [];
  for await (const event of client.events.replay({ appId: app.id, threadId: thread.id }, { cursor }))
    if (event.type === 'thread.updated')
      sent.push([(event.data as { status: string }).status, Date.parse(event.occurredAt)]);
  const own = changes.flatMap(([id, status, at]): Said[] => (id === thread.id ? [[status, at]] : []));
  const lags = lagsOf(sent.filter(isNew), own.filter(isNew));
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
