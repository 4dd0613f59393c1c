/** Commands in sandboxes that are seen from outside: each sleeps for a time that no other process sleeps. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from './lab.ts';

const LOOK_MS = 200;
/** Longer than whatever has one takes. */
const LONGEST_SECONDS = 4_000;
/** Until a runner that is away counts as gone; then the job has to look. */
const GONE_LIMIT_MS = 260_000;

export interface Sleeper {
  /** For the command line. */
  seconds: string;
  /** Of the processes that were seen. */
  pids: Set<number>;
  isAlive(): boolean;
  /** Resolves with the time (ms since 1970) at which it was seen to be dead. */
  dead(limitMs: number): Promise<number>;
}

export interface Sleepers {
  next(): Sleeper;
  close(): void;
}

/** Of this process: parts that run at the same time see each other's. */
let made = 0;

/** Looks at all processes of this host several times a second, until it is closed. */
export function watchSleepers(): Sleepers {
  const all = new Map<string, Sleeper>();
  let living = new Set<number>();
  const timer = setInterval(() => {
    living = new Set();
    for (const [pid, seconds] of processes()) {
      all.get(seconds)?.pids.add(pid);
      living.add(pid);
    }
  }, LOOK_MS);
  return {
    next() {
      const seconds = `${LONGEST_SECONDS}.${String(process.pid).padStart(7, '0')}${String(made++).padStart(4, '0')}1`;
      const sleeper: Sleeper = {
        seconds,
        pids: new Set(),
        isAlive: () => [...sleeper.pids].some((pid) => living.has(pid)),
        async dead(limitMs) {
          for (const deadline = Date.now() + limitMs; sleeper.isAlive(); await sleep(LOOK_MS))
            if (Date.now() > deadline) return Infinity;
          return Date.now();
        },
      };
      all.set(seconds, sleeper);
      return sleeper;
    },
    close: () => clearInterval(timer),
  };
}

/** Process ids of `sleep`, with its argument. */
function* processes(): Generator<[number, string]> {
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const [program, seconds] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (program === 'sleep' && seconds && readlinkSync(`/proc/${pid}/exe`).endsWith('/sleep'))
        yield [Number(pid), seconds];
    } catch {
      // It has ended meanwhile.
    }
  }
}

export interface LabBuild {
  id: string;
  path: string;
  runnerId: string;
  sleeper: Sleeper;
}

export const seenBuild = async (lab: Lab, { path }: LabBuild) =>
  (await lab.caller.call('GET', path)).body.build as { status: string; error: { code: string } | null };

/** Starts a build that does not end, and waits until its command runs. */
export async function beginBuild(lab: Lab, sleepers: Sleepers, app: string): Promise<LabBuild> {
  const sleeper = sleepers.next();
  const { body } = await lab.caller.call('POST', `${app}/builds`, {
    command: `exec sleep ${sleeper.seconds}`,
    outputDirectory: '.',
  });
  const id = body.build.id as string;
  const runnerId = await lab.until(`${id} runs`, async () => {
    const [row] = await lab.query<{ runner_id: string | null }>(
      'select runner_id from builds where id = $1',
      [id],
    );
    return sleeper.isAlive() ? (row?.runner_id ?? undefined) : undefined;
  });
  return { id, path: `${app}/builds/${id}`, runnerId, sleeper };
}

/** What is wrong with one whose runner was lost: it has to end once, as worker_lost, and never to run again. */
export async function judgeLostBuild(lab: Lab, build: LabBuild): Promise<string[]> {
  const { id, sleeper } = build;
  let now: Awaited<ReturnType<typeof seenBuild>>;
  for (const deadline = Date.now() + GONE_LIMIT_MS; ; await sleep(1_000)) {
    now = await seenBuild(lab, build);
    if (now.status === 'ready' || now.status === 'failed') break;
    if (Date.now() > deadline) return [`${id} is ${now.status} after its runner is gone`];
  }
  return [
    ...(now.error?.code === 'worker_lost'
      ? []
      : [`${id} is ${now.status} with ${now.error?.code ?? 'no error'}`]),
    ...(sleeper.pids.size === 1 ? [] : [`the command of ${id} ran ${sleeper.pids.size} times`]),
    ...(sleeper.isAlive() ? [`the command of ${id} outlives it`] : []),
  ];
}
