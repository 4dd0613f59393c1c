/** What a page says of itself while it is measured. */
import type { CDPSession, Page } from 'playwright-core';

/**
 * Before the page's own scripts: keeps long tasks, and how long each key took until its frame was painted. The
 * browser's own Event Timing waits for a presentation, and a browser without a screen skips most of those: with a
 * feed beside it, the entries of a page whose frames are all painted in 16 ms say up to a second.
 */
export const PROBE = `(() => {
  const probe = (window.__probe = { tasks: [], keys: [] });
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) probe.tasks.push(duration); })
    .observe({ type: 'longtask', buffered: true });
  addEventListener('keydown', ({ isTrusted, key, timeStamp }) => {
    // The page's own events are no keys of a person; a modifier does nothing by itself.
    if (!isTrusted || key === 'Control' || key === 'Meta') return;
    requestAnimationFrame(() => {
      const painted = new MessageChannel();
      painted.port1.onmessage = () => probe.keys.push(performance.now() - timeStamp);
      painted.port2.postMessage(null);
    });
  }, true);
})()`;

const LIMIT_MS = 60_000;

/** Nothing loads, and the page has its heading. */
const IS_USABLE = `(() => {
  const heading = document.querySelector('main h1');
  return heading !== null && document.querySelector('[data-skeleton]') === null && performance.now();
})()`;

/** Milliseconds from the start of the navigation until the page can be used. */
export const untilUsable = (page: Page): Promise<number> => untilSo(page, IS_USABLE);

/**
 * The expression's value in the first frame in which it is not false. By the debugger: the page's policy forbids eval.
 * It fails after a minute.
 */
export const untilSo = (page: Page, expression: string): Promise<number> =>
  page.evaluate<number>(`(async () => {
    for (const end = performance.now() + ${LIMIT_MS}; performance.now() < end;) {
      const value = ${expression};
      if (value !== false) return value;
      await new Promise(requestAnimationFrame);
    }
    throw new Error(${JSON.stringify(`never: ${expression}`)});
  })()`);

/** The longest task since the last call; 0 if none took 50 ms. */
export async function longestTask(page: Page): Promise<number> {
  return page.evaluate<number>('Math.max(0, ...window.__probe.tasks.splice(0))');
}

/** For each key since the last call: milliseconds until the frame after it was painted. Throws unless they are so many. */
export async function keyTimes(page: Page, count: number): Promise<number[]> {
  await untilSo(page, `window.__probe.keys.length >= ${count}`);
  const times = await page.evaluate<number[]>('window.__probe.keys.splice(0)');
  if (times.length !== count) throw new Error(`The page had ${times.length} keys instead of ${count}`);
  return times;
}

/** KiB of JavaScript's heap, after a collection. */
export async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / 1024;
}

/** The time of each frame while the page is scrolled by the wheel. */
export async function framesOfScroll(page: Page, wheels: number): Promise<number[]> {
  await page.mouse.move(800, 500);
  await page.evaluate(`window.__frames = []; window.__last = performance.now(); window.__run = true;
    requestAnimationFrame(function frame(now) {
      window.__frames.push(now - window.__last); window.__last = now;
      if (window.__run) requestAnimationFrame(frame);
    })`);
  for (let i = 0; i < wheels; i++) await page.mouse.wheel(0, 400);
  return page.evaluate<number[]>('window.__run = false, window.__frames.slice(1)');
}
