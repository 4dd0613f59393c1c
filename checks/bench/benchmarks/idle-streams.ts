/**
 * What streams cost on which nothing happens, and how late the last of them has an event that goes to all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark } from '../lib/benchmark.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { PLATFORM } from '../../harness/http.ts';
import { openReader } from '../lib/idle-reader.ts';
import type { IdleReader } from '../lib/idle-reader.ts';
import { EVENT_TYPE, openLog } from '../lib/log.ts';
import { makeProbe } from '../lib/probe.ts';
import { summarize } from '../../harness/statistics.ts';

const STREAMS = 2_000;
/** So many are opened beforehand: what the first streams load and compile is no stream's own. */
const FIRST = 100;
const AT_ONCE = 50;
const SETTLE_MS = 1_000;
/**
 * Longer than the time between heartbeats: each stream has sent one, and what opening it took has become
 * garbage.
 */
const IDLE_MS = 16_000;
const PAUSE_MS = 200;
const BROADCAST_LIMIT_MS = 15_000;
const KIB = 1024;

export const idleStreamsBenchmark: Benchmark = {
  name: 'idle-streams',
  title: `${STREAMS} idle streams on one API process`,
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const probe = makeProbe(setup.scratch);
    const service = await startServiceOn(
      setup,
      database,
      { ...probe.options.env, HEADRACE_ROLES: 'api' },
      probe.options.nodeArgs,
    );
    const log = await openLog(setup, service, database.url, 1);
    const readers: IdleReader[] = [];
    setup.atEnd(() => {
      for (const reader of readers) reader.close();
    });
    const open = async (count: number) => {
      for (const until = readers.length + count; readers.length < until;)
        readers.push(
          ...(await Promise.all(
            Array.from({ length: Math.min(AT_ONCE, until - readers.length) }, () =>
              openReader(service.base, `${PLATFORM}/events/stream?types=${EVENT_TYPE}`, service.key),
            ),
          )),
        );
    };
    await open(FIRST);
    await broadcast();
    const before = await settled(SETTLE_MS);
    const from = performance.now();
    await open(STREAMS - FIRST);
    setup.say(`opened in ${((performance.now() - from) / 1000).toFixed(1)} s`);
    const after = await settled(setup.quick ? SETTLE_MS : IDLE_MS);
    const perStream = (part: 'rss' | 'heapUsed' | 'external') =>
      (after[part] - before[part]) / (STREAMS - FIRST) / KIB;

    const lags: number[] = [];
    const lasts: number[] = [];
    await broadcast();
    for (let i = 0; i < (setup.quick ? 5 : 40); i++) {
      const lag = await broadcast();
      lags.push(...lag);
      lasts.push(Math.max(...lag));
      await sleep(PAUSE_MS);
    }
    return {
      rows: [
        { what: 'event committed → frame read, each stream', unit: 'ms', figures: summarize(lags) },
        {
          what: 'event committed → frame read, last stream of each event',
          unit: 'ms',
          figures: summarize(lasts),
        },
      ],
      aims: [{ what: 'memory per stream', bound: 'most', limit: 40, value: perStream('rss'), unit: 'KiB' }],
      notes: [
        `Memory: growth of the process's resident memory with ${STREAMS - FIRST} streams in addition to ${FIRST} earlier ones, measured ${setup.quick ? 'soon' : `${IDLE_MS / 1000} s`} after they were opened and after a garbage collection; of this, ${perStream('heapUsed').toFixed(1)} KiB are JavaScript's heap and ${perStream('external').toFixed(1)} KiB its buffers. The kernel's part of a connection is not included.`,
        `The streams read the all-apps feed with one key. Another process commits the event; the time counts from the commit's answer. The benchmark's process reads all ${STREAMS} sockets on the same cores.`,
      ],
    };

    async function settled(ms: number): Promise<NodeJS.MemoryUsage> {
      await sleep(ms);
      // Twice: what the first collection finalizes the second one frees.
      await probe.ask(service.pid);
      return (await probe.ask(service.pid)).memory;
    }

    /** One event to all; how long after its commit each reader had it. */
    async function broadcast(): Promise<number[]> {
      const all = Promise.all(readers.map((reader) => reader.sees(`event: ${EVENT_TYPE}`)));
      await log.commit();
      const committed = performance.now();
      const seen = await Promise.race([all, sleep(BROADCAST_LIMIT_MS, null, { ref: false })]);
      if (seen === null) throw new Error('An event did not reach all streams in time');
      return seen.map((at) => Math.max(0, at - committed));
    }
  },
};
