/**
 * The console in Chromium: its loading on a slow machine and line, changes of pages, keys, busy feeds, many tabs. Each
 * next to a blank page.
 */
import type { Benchmark } from '../lib/benchmark.ts';
import { RENAMES_PER_SECOND, busyThreads, feed } from './console/feed.ts';
import { makeField, measured } from './console/field.ts';
import { SLOWER_CPU, loading, tabs } from './console/loading.ts';
import { keys, routes } from './console/moves.ts';

export const consoleBenchmark: Benchmark = {
  name: 'console',
  title: 'The console in Chromium',
  async run(setup) {
    const field = await makeField(setup, await setup.start());
    const busy = { ...field, busy: await busyThreads(field.client) };
    return {
      ...(await measured(busy, { loading, routes, keys, feed, tabs })),
      notes: [
        `Loading: a ${SLOWER_CPU} times slower processor and a line of 10 Mbit/s with 20 ms. A page can be used when it has its heading and nothing loads. *Loaded a second time*: its files are in the browser's cache, but the scripts are compiled anew. *Loaded again, scripts compiled*: the third load; the browser keeps what it compiled in the second. The blank page is a heading, served by a bare server.`,
        `The feed has ${2 * RENAMES_PER_SECOND} events a second, of one app; what is measured is the status of a thread in the sidebar, from the event's time to the change of the page, on one clock.`,
      ],
    };
  },
};
