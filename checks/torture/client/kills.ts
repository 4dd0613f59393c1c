/** Operations of several writes, by processes that are killed, against a service that is killed. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inLanes } from '../../harness/lanes.ts';
import type { Random } from '../../harness/random.ts';
import type { Fleet } from '../lib/fleet.ts';
import type { Setup } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import type { Written } from './judge.ts';
import type { Answer, Order } from './caller.ts';

const OPERATIONS = 500;
export const WRITES_EACH = 4;
const KILLS = 200;
const LANES = 10;
/** In one of this many operations, the caller is killed while it works, this soon after it was asked. */
const CALLER_KILLS = 5;
const KILL_WITHIN_MS = 150;
const AGAIN_MS = 200;
const CALLER = join(import.meta.dirname, 'caller.ts');

interface Done {
  written: Written[];
  kills: number;
  /** Callers that were killed. */
  callers: number;
  /** Operations that were started again with their key, in the same process or another. */
  resumed: number;
  failures: string[];
}

export async function writeOverKills(setup: Setup, fleet: Fleet): Promise<Done> {
  const names = Array.from({ length: setup.count(OPERATIONS, LANES) }, (_, n) => `operation-${n}`);
  const kills = setup.count(KILLS, 2);
  const storm = startStorm(setup, fleet, { total: names.length, kills });
  const done: Done = { written: [], kills, callers: 0, resumed: 0, failures: [] };
  const callers = Array.from({ length: LANES }, () => new Caller());
  setup.atEnd(() => callers.forEach((caller) => caller.kill()));
  await inLanes(LANES, names, async (name, n) => {
    await storm.step();
    const caller = callers.pop()!;
    const order = { name, key: fleet.key, bases: fleet.bases };
    await untilDone(setup, {
      caller,
      order,
      done,
      random: setup.random.fork(`operation ${n}`),
      isKilled: n % CALLER_KILLS === 0,
    });
    callers.push(caller);
  });
  await storm.over;
  return done;
}

interface Task {
  caller: Caller;
  order: Omit<Order, 'base'> & { bases: string[] };
  done: Done;
  random: Random;
  /** Whether its first caller is killed. */
  isKilled: boolean;
}

/** Asks again, the same caller or a new one, until the operation is answered. */
async function untilDone(setup: Setup, { caller, order, done, random, isKilled }: Task): Promise<void> {
  const { bases, ...rest } = order;
  for (let tries = 0; ; tries++) {
    setup.signal.throwIfAborted();
    if (tries > 0) done.resumed++;
    const asked = caller.ask({ ...rest, base: bases[tries % bases.length]! });
    if (isKilled && tries === 0) {
      await Promise.race([asked, sleep(random.below(KILL_WITHIN_MS))]);
      done.callers++;
      caller.kill();
    }
    const answer = await asked;
    if (answer === null) continue;
    if ('written' in answer) return void done.written.push(answer.written);
    if (!answer.isRetryable) return void done.failures.push(`${order.name}: ${answer.error}`);
    await sleep(AGAIN_MS);
  }
}

/** A process that executes operations; after its death, another one. */
class Caller {
  #child: ChildProcess | null = null;

  /** null: it was killed before it answered. */
  ask(order: Order): Promise<Answer | null> {
    const child = (this.#child ??= fork(CALLER, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
    return new Promise((resolve) => {
      const finish = (answer: Answer | null): void => {
        child.off('message', finish).off('exit', died);
        resolve(answer);
      };
      const died = (): void => {
        if (this.#child === child) this.#child = null;
        finish(null);
      };
      child.on('message', finish).on('exit', died);
      child.send(order);
    });
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }
}
