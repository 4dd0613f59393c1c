/** What is done to the merging itself while processes are killed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Fleet, Member } from '../lib/fleet.ts';
import type { Setup } from '../lib/part.ts';
import type { Storm } from '../lib/storm.ts';
import { takeOverSilent } from '../lib/takeover.ts';

interface FaultOptions {
  gits: number;
  zombies: number;
  /** The worker that is being made a zombie is put in: it is not to be killed. */
  spared: Set<Member>;
}

export interface Faults {
  /** Resolves when the last one was done. */
  over: Promise<void>;
  /**
   * git processes that were killed; workers that were taken for dead, and went on after their work had been
   * taken over.
   */
  done: { gits: number; zombies: number };
}

const LOOK_MS = 20;
const TAKEN_OVER_LIMIT_MS = 6_000;

/** `gits` and `zombies` of them, spread over the storm's work; where the work ends first, there are fewer. */
export function startFaults(
  setup: Setup,
  fleet: Fleet,
  table: pg.Client,
  storm: Storm,
  { gits, zombies, spared }: FaultOptions,
): Faults {
  const done = { gits: 0, zombies: 0 };
  const { signal } = setup;
  const random = setup.random.fork('faults');
  const isOver = () => storm.progress() >= 1;

  async function killGits(): Promise<void> {
    while (done.gits < gits && !isOver()) {
      if (storm.progress() * gits >= done.gits) {
        const found = gitsOf(fleet.dataDir);
        if (found.length > 0 && kill(random.pick(found), 'SIGKILL')) done.gits++;
      }
      await sleep(LOOK_MS + random.below(100), undefined, { signal });
    }
  }

  async function makeZombies(): Promise<void> {
    for (let tried = 0; tried < 3 * zombies && done.zombies < zombies && !isOver(); tried++) {
      const at = (done.zombies + random.next() / 2) / zombies;
      while (storm.progress() < at && !isOver()) await sleep(LOOK_MS, undefined, { signal });
      const worker = random.pick(fleet.members.filter((member) => member.role === 'worker' && member.isUp()));
      if (worker && (await makeZombie(worker))) done.zombies++;
      await sleep(random.below(500), undefined, { signal });
    }
  }

  /**
   * Stops a worker in the middle of its work, breaks the connection that holds its lock, and has it go on
   * when others have its jobs.
   */
  async function makeZombie(worker: Member): Promise<boolean> {
    const pid = worker.pid();
    if (!kill(pid, 'SIGSTOP')) return false;
    spared.add(worker);
    try {
      return await takeOverSilent(table, { limitMs: TAKEN_OVER_LIMIT_MS, signal });
    } finally {
      kill(pid, 'SIGCONT');
      spared.delete(worker);
    }
  }

  const over = (async () => {
    await Promise.all([killGits(), makeZombies()]);
  })();
  // Its failure belongs to the caller that awaits it; until then nobody handles it.
  over.catch(() => {});
  return { over, done };
}

/** The git processes that merge in the scratch repositories of a data folder. */
function gitsOf(dataDir: string): number[] {
  const mark = `GIT_DIR=${join(dataDir, 'merge')}/`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1')
          .split('\0')
          .some((entry) => entry.startsWith(mark));
      } catch {
        return false;
      }
    });
}

/** False when the process has ended already. */
function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
