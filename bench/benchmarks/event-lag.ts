/** How long after a write its event is read from a stream, at 200 events a second. One machine, one clock. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApp } from '../lib/apps.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { PLATFORM } from '../lib/http.ts';
import { summarize } from '../lib/statistics.ts';

const RATE = 200;
const APPS = 50;
const DRAIN_LIMIT_MS = 10_000;

interface Frame {
  event: { data: { id: string; updatedAt: string }; occurredAt: string };
  /** Milliseconds since 1970, with fractions. */
  at: number;
}

export const eventLagBenchmark: Benchmark = {
  name: 'events',
  title: `Event lag at ${RATE} events a second`,
  async run(setup) {
    const service = await setup.start();
    const apps = await Promise.all(Array.from({ length: APPS }, (_, i) => newApp(service, `App ${i}`)));
    const stream = await service.open(`${PLATFORM}/events/stream?types=platform.app.updated`);
    setup.atEnd(() => void stream.destroy());
    const frames = collect(stream);
    // Connections and statements are made before anything is counted.
    await write(RATE);
    await frames.arrived(RATE);
    const count = RATE * (setup.quick ? 3 : 30);
    frames.clear();
    const answers = await write(count);
    await frames.arrived(count);
    const sinceEvent = frames.all().map(({ event, at }) => at - Date.parse(event.occurredAt));
    const sinceAnswer = frames.all().map(({ event, at }) => Math.max(0, at - answers.get(`${event.data.id} ${event.data.updatedAt}`)!));
    const lag = summarize(sinceEvent);
    return {
      rows: [
        { what: 'event written (before its commit) → frame read', unit: 'ms', figures: lag },
        { what: 'write answered → frame read', unit: 'ms', figures: summarize(sinceAnswer) },
      ],
      aims: [{ what: 'p99', bound: 'most', limit: 50, value: lag.p99, unit: 'ms' }],
      notes: [`${count} renamings of ${APPS} apps, sent at a fixed rate whether or not earlier ones were answered; one reader of the all-apps stream. Counted from occurredAt, which is before the commit: the commit's own time is in it.`],
    };

    /** Sends at the rate, whatever the answers take; returns when each was answered, by app and version time. */
    async function write(total: number): Promise<Map<string, number>> {
      const answered = new Map<string, number>();
      const pending: Promise<void>[] = [];
      const from = performance.now();
      for (let i = 0; i < total; i++) {
        const wait = from + (i * 1000) / RATE - performance.now();
        if (wait > 0) await sleep(wait);
        pending.push(rename(apps[i % APPS]!, `Name ${i} ${from}`, answered));
      }
      await Promise.all(pending);
      return answered;
    }

    async function rename(app: string, name: string, answered: Map<string, number>): Promise<void> {
      const { body } = await service.call('PATCH', app, { name });
      answered.set(`${body.app.id as string} ${body.app.updatedAt as string}`, now());
    }
  },
};

const now = () => performance.timeOrigin + performance.now();

function collect(stream: IncomingMessage) {
  let frames: Frame[] = [];
  let rest = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    const at = now();
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      if (!/^event: ?platform\.app\.updated$/m.test(block)) continue;
      frames.push({ event: JSON.parse(/^data: ?(.*)$/m.exec(block)![1]!) as Frame['event'], at });
    }
  });
  return {
    all: () => frames,
    clear: () => { frames = []; },
    async arrived(count: number): Promise<void> {
      for (const deadline = Date.now() + DRAIN_LIMIT_MS; frames.length < count; await sleep(10)) if (Date.now() > deadline) throw new Error(`${frames.length} of ${count} events arrived`);
    },
  };
}
