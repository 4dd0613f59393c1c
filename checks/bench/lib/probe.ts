/** Asks a service for what only its own process knows; see probe.mjs, which is preloaded into it. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Summary } from '../../harness/statistics.ts';

const PRELOAD = join(import.meta.dirname, '../probe.mjs');
const ANSWER_LIMIT_MS = 5_000;

export interface Seen {
  /** Delay of the event loop since it was asked last, in ms. */
  loop: Summary;
  /** After a garbage collection, in bytes. */
  memory: NodeJS.MemoryUsage;
}

/** `options` start the service with the probe; `ask` asks the service that was started with them. */
export function makeProbe(scratch: string): {
  options: { nodeArgs: string[]; env: Record<string, string> };
  ask(pid: number): Promise<Seen>;
} {
  const file = join(scratch, 'probe.json');
  return {
    options: { nodeArgs: ['--expose-gc', '--import', PRELOAD], env: { HEADRACE_BENCH_PROBE_FILE: file } },
    async ask(pid) {
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      for (const deadline = Date.now() + ANSWER_LIMIT_MS; !existsSync(file); await sleep(5))
        if (Date.now() > deadline) throw new Error('The service did not answer the probe');
      return JSON.parse(readFileSync(file, 'utf8')) as Seen;
    },
  };
}
