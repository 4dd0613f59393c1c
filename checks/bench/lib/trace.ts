/** What a page's main thread does, by Chromium's trace. */
import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  args: { name?: string };
}

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'];

/** Milliseconds that the main thread worked from each frame to the next while `act` ran. */
export async function workOfFrames(
  browser: Browser,
  page: Page,
  act: () => Promise<unknown>,
): Promise<number[]> {
  await browser.startTracing(page, { categories: CATEGORIES });
  let trace: Buffer;
  try {
    await act();
  } finally {
    // A browser takes one trace at a time: what follows a failure wants its own.
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { traceEvents: TraceEvent[] };
  const threads = traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) =>
      traceEvents
        .filter((event) => event.pid === pid && event.tid === tid && event.ph !== 'M')
        .toSorted((a, b) => a.ts - b.ts),
    );
  // Other renderers are at rest.
  const [main = []] = threads.toSorted((a, b) => b.length - a.length);
  const tasks = main.filter(({ name, dur }) => name === 'RunTask' && dur !== undefined);
  const commits = main.filter(({ name }) => name === 'Commit').map(({ ts }) => ts);
  const frames: number[] = [];
  let [work, frame] = [0, 0];
  for (const { ts, dur } of tasks) {
    work += dur! / 1000;
    if (frame < commits.length && commits[frame]! <= ts + dur!) {
      frames.push(work);
      work = 0;
      while (frame < commits.length && commits[frame]! <= ts + dur!) frame++;
    }
  }
  return frames;
}
