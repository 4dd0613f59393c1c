/**
 * The client in its own process, so that only its time and memory count. benchmarks/client-events.ts controls it
 * over IPC; started with --expose-gc.
 */
import { createClient } from '../../../packages/client/src/index.ts';

export type Ask =
  | { kind: 'stream'; base: string; events: number }
  | { kind: 'follow'; base: string }
  | { kind: 'memory' };
export type Reply =
  | { kind: 'streamed'; cpuMs: number; wallMs: number }
  | { kind: 'followed'; items: number }
  | { kind: 'memory'; bytes: number; rss: number; items: number };

const clientOf = (base: string) => createClient({ baseUrl: base, key: 'hrk_bench' });
const report = (reply: Reply) => process.send!(reply);
let items = 0;

process.on('message', (ask: Ask) => {
  if (ask.kind === 'stream') void stream(ask.base, ask.events);
  else if (ask.kind === 'follow') void follow(ask.base);
  else void memory();
});

async function stream(base: string, events: number): Promise<void> {
  const [cpu, from] = [process.cpuUsage(), performance.now()];
  let seen = 0;
  for await (const item of clientOf(base).events.stream({}, { cursor: 'c0' }))
    if (item.kind === 'event' && ++seen === events) break;
  const { user, system } = process.cpuUsage(cpu);
  report({ kind: 'streamed', cpuMs: (user + system) / 1000, wallMs: performance.now() - from });
}

async function follow(base: string): Promise<void> {
  for await (const _ of clientOf(base).threads.follow('prj_1', 'thr_1', { keepOpen: true })) items++;
  report({ kind: 'followed', items });
}

/** Collects twice: the second collection frees what the first one finalizes. */
async function memory(): Promise<void> {
  for (let i = 0; i < 2; i++) {
    globalThis.gc!();
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  report({ kind: 'memory', bytes: heapUsed + external, rss, items });
}
