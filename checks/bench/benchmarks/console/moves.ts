/** Changes of pages, and keys. */
import type { Page } from 'playwright-core';
import { untilThread } from '../../../console/ground.ts';
import { percentile } from '../../../harness/statistics.ts';
import { keyTimes, longestTask, untilUsable } from '../../lib/page-probe.ts';
import { busyFeed } from './feed.ts';
import type { BusyField } from './feed.ts';
import { contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

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

export async function routes(field: Field): Promise<Part> {
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

export async function keys(field: BusyField): Promise<Part> {
  const rounds = field.setup.quick ? 2 : 10;
  const { thread } = await field.client.threads.create(field.app.id, { title: 'Keys' });
  await untilThread(field.client, field.app, thread.id, ({ status }) => status === 'ready');
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  await page.goto('/console/');
  await untilUsable(page);
  let pressed = 0;
  const press = async (...names: string[]) => {
    for (const name of names) await page.keyboard.press(name);
    pressed += names.length;
  };
  for (let i = 0; i < rounds; i++) {
    await press('j', 'k', '?', 'Escape', 'ControlOrMeta+k');
    await page.getByRole('searchbox').waitFor();
    await press('c', 'h', 'e', 'ArrowDown', 'ArrowUp', 'Escape', 'g', 'a', 'g', 'i');
  }
  const any = await keyTimes(page, pressed);
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
  await page.keyboard.type(text, { delay: 30 });
  return keyTimes(page, text.length);
}
