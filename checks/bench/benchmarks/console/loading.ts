/** The console loaded on a slow machine and line, and in many tabs. */
import type { Page } from 'playwright-core';
import { sh, untilThread } from '../../../console/ground.ts';
import { startProxy } from '../../../console/proxy.ts';
import { untilUsable } from '../../lib/page-probe.ts';
import { contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

const MBIT = 1_000_000 / 8;
const SLOW = { offline: false, latency: 20, downloadThroughput: 10 * MBIT, uploadThroughput: 10 * MBIT };
export const SLOWER_CPU = 4;
const TABS = 8;

export async function loading(field: Field): Promise<Part> {
  const samples = field.setup.quick ? 2 : 10;
  const times: Record<'cold' | 'again' | 'warm' | 'blank', number[]> = {
    cold: [],
    again: [],
    warm: [],
    blank: [],
  };
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
      if (path !== '/') {
        times.again.push(await load(page, path));
        times.warm.push(await load(page, path));
      }
      await context.close();
    }
  }
  const rows = [
    row('first load, nothing cached', times.cold),
    row('loaded a second time', times.again),
    row('loaded again, scripts compiled', times.warm),
    row('a blank page, nothing cached', times.blank),
  ];
  const [cold, again, warm] = rows.map(({ figures }) => figures.median) as [number, number, number];
  return {
    rows,
    aims: [
      most('first load, p50', cold, [2_500, 'ms']),
      most('loaded a second time, p50', again, [600, 'ms']),
      most('loaded again, scripts compiled, p50', warm, [600, 'ms']),
    ],
  };
}

export async function tabs(field: Field): Promise<Part> {
  const proxy = await startProxy(field.base);
  field.setup.atEnd(() => proxy.close());
  const { client, app } = field;
  const content = sh('sleep 3000');
  const { thread } = await client.threads.create(app.id, { title: 'At work', message: { content } });
  await untilThread(client, app, thread.id, ({ status }) => status === 'running');
  const context = await contextOf(field, proxy.base);
  const times: number[] = [];
  const open = async (page: Page, path: string) => {
    await page.goto(path, { waitUntil: 'commit' });
    times.push(await untilUsable(page));
    await page.locator('[data-live="live"]').waitFor();
  };
  for (let i = 1; i < TABS; i++) await open(await context.newPage(), '/console/');
  const front = await context.newPage();
  await Promise.all([
    // Its drafts have a stream of their own.
    front.waitForResponse((answer) => answer.url().includes('/stream') && answer.url().includes(thread.id)),
    open(front, `/console/apps/${app.id}/threads/${thread.id}`),
  ]);
  const { most: streams } = proxy.streams();
  await context.close();
  await client.runs.stop(app.id, thread.id);
  return {
    rows: [
      row(`each of ${TABS} tabs of a browser, one at a thread at work, loaded`, times),
      row('streams of all tabs', [streams], 'objects'),
    ],
    aims: [
      most(`the slowest of ${TABS} tabs`, Math.max(...times), [1_000, 'ms']),
      most('streams of all tabs', streams, [3, 'objects']),
    ],
  };
}
