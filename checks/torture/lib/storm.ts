/**
 * Kills spread over some work: the next process is killed when the work has come so far, and the work waits
 * where it is ahead of the kills. So all kills fall into the work, on machines of any speed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, Member } from './fleet.ts';
import type { Setup } from './part.ts';

export interface Storm {
  /** To be awaited before each of the `total` steps of work; the caller counts nothing. */
  step(): Promise<void>;
  /** How much of the work has begun, 0 to 1. */
  progress(): number;
  /** Resolves when the last one was killed. */
  over: Promise<void>;
  kills: { api: number; worker: number };
}

const LOOK_MS = 10;
/** So that a killed process can have begun to start again. */
const LEAST_GAP_MS = 300;

interface StormOptions {
  /** Steps of work, and processes to be killed over them. */
  total: number;
  kills: number;
  /** Resolves when a good moment for the next kill has come: what a step sets going goes on behind it. */
  moment?: () => Promise<void>;
  /** Whether it is not to be killed at the moment. Of some it has to be false at any time. */
  isSpared?: (member: Member) => boolean;
}

const TELL_MS = 10_000;

export function startStorm(
  { random: seeded, signal, say }: Setup,
  fleet: Fleet,
  { total, kills, moment, isSpared = () => false }: StormOptions,
): Storm {
  const random = seeded.fork('victims');
  const state = { begun: 0, killed: 0 };
  const counts = { api: 0, worker: 0 };
  const isAhead = () => state.killed < kills && state.begun >= ((state.killed + 1) / kills) * total;

  async function rage(): Promise<void> {
    const teller = setInterval(
      () => say(`${state.begun} of ${total}, ${state.killed} of ${kills} killed`),
      TELL_MS,
    );
    try {
      await killAll();
    } finally {
      clearInterval(teller);
    }
  }

  /** In rounds, each in an order that is drawn: however few the kills, they hit both roles. */
  async function killAll(): Promise<void> {
    const round: Member[] = [];
    while (state.killed < kills) {
      const at = ((state.killed + random.next()) / kills) * total;
      // One api has to take requests for the work to go on; whether the victim has come up itself since its
      // last kill is left to chance.
      while (
        state.begun < Math.min(at, total - 1) ||
        !fleet.members.some((m) => m.role === 'api' && m.isUp())
      )
        await sleep(LOOK_MS, undefined, { signal });
      await moment?.();
      if (round.length === 0) round.push(...fleet.members);
      const victim = round.splice(random.below(round.length), 1)[0]!;
      if (isSpared(victim)) continue;
      await victim.kill9();
      counts[victim.role]++;
      state.killed++;
      await sleep(LEAST_GAP_MS, undefined, { signal });
    }
  }

  const over = rage();
  // Its failure belongs to the caller that awaits it; until then nobody handles it.
  over.catch(() => {});
  return {
    async step() {
      while (isAhead()) await sleep(LOOK_MS, undefined, { signal });
      state.begun++;
    },
    progress: () => Math.min(1, state.begun / total),
    over,
    kills: counts,
  };
}
