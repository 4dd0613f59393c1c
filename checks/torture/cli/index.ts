/**
 * The command line's writes: each command is killed (kill -9) at one of its writes, before the service has the request or
 * after it has answered, or at a random moment, perhaps twice; then the same command is run again until it ends. Each
 * effect is there once.
 *
 * Seen to fail: a command that takes a new key each time.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@headrace/client';
import { inLanes } from '../../harness/lanes.ts';
import type { Random } from '../../harness/random.ts';
import type { Service } from '../../harness/service.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, Setup } from '../lib/part.ts';
import { CASES } from './cases.ts';
import type { Case, Ground } from './cases.ts';
import { startKillingProxy } from './killing-proxy.ts';
import type { KillingProxy } from './killing-proxy.ts';

const COMMANDS = 450;
const LANES = 3;
/** A command has at most so many writes. */
const MOST_WRITES = 4;
const KILL_WITHIN_MS = 1_500;
const LIMIT_MS = 90_000;
const MAIN = join(import.meta.dirname, '../../../packages/cli/src/main.ts');

interface Tally {
  kills: number;
  /** Kills between a request and its answer. */
  between: number;
  missing: number;
  doubled: number;
  failures: string[];
}

export const cliPart: Part = {
  name: 'cli',
  title: 'A command that is killed and run again does each of its writes once',
  seconds: 240,
  async run(setup) {
    const service = await setup.start();
    // With least work, each kind once.
    const total = setup.count(COMMANDS, CASES.length);
    const tally: Tally = { kills: 0, between: 0, missing: 0, doubled: 0, failures: [] };
    const proxies = await Promise.all(Array.from({ length: LANES }, () => startKillingProxy(service.base)));
    setup.atEnd(async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });
    const numbers = Array.from({ length: total }, (_, n) => n);
    await inLanes(LANES, numbers, async (n) => {
      setup.signal.throwIfAborted();
      const proxy = proxies.pop()!;
      await interrupted(setup, { service, proxy, n, tally });
      proxies.push(proxy);
    });
    return {
      line:
        `${counted(total)} commands of ${CASES.length} kinds, ${counted(tally.kills)} kill -9, ${counted(tally.between)} of them between request and answer: ` +
        `${tally.missing} effects missing, ${tally.doubled} doubled`,
      figures: {
        commands: total,
        kills: tally.kills,
        between: tally.between,
        missing: tally.missing,
        doubled: tally.doubled,
      },
      failures: tally.failures,
    };
  },
};

interface Task {
  service: Service;
  proxy: KillingProxy;
  n: number;
  tally: Tally;
}

async function interrupted(setup: Setup, { service, proxy, n, tally }: Task): Promise<void> {
  const one = CASES[n % CASES.length]!;
  const random = setup.random.fork(`command ${n}`);
  const ground = await groundFor(setup, service, `${n}`);
  await one.prepare?.(ground);
  const home = join(ground.cwd, '..', 'home');
  const run = () =>
    started([MAIN, ...one.argv(ground)], {
      cwd: ground.cwd,
      home,
      env: { HEADRACE_URL: proxy.base, HEADRACE_KEY: service.key },
    });
  for (let kill = random.below(4) === 0 ? 2 : 1; kill > 0; kill--) {
    const end = await killed(run(), { proxy, random, tally });
    // It was faster: what it did is printed, and its key is gone.
    if (end.exit === 0 || (end.hasPrinted && keysIn(home) === 0)) return judge(one, ground, tally);
    if (end.exit !== 137) {
      tally.failures.push(`${one.name} ended with ${end.exit}: ${end.said}`);
      return;
    }
  }
  proxy.lay(null);
  const { exit, said } = await run().end;
  if (exit !== 0) tally.failures.push(`${one.name}, again, ended with ${exit}: ${said}`);
  await judge(one, ground, tally);
}

/** Of commands that have not ended. */
function keysIn(home: string): number {
  const folder = join(home, '.local/state/headrace/writes');
  return existsSync(folder) ? readdirSync(folder).length : 0;
}

async function groundFor({ scratch }: Setup, service: Service, n: string): Promise<Ground> {
  const client = createClient({ baseUrl: service.base, key: service.key });
  const name = `torture-${n}`;
  const cwd = join(scratch, name, 'folder');
  mkdirSync(cwd, { recursive: true });
  const { id: appId } = await client.apps.create({ name });
  const { source } = await client.sources.import(appId, { files: [{ path: 'a.txt', content: 'a\n' }] });
  await client.head.initialize(appId, { sourceId: source.id });
  const { thread } = await client.threads.create(appId, { title: name });
  return { client, name, cwd, appId, threadId: thread.id };
}

interface Ended {
  exit: number;
  /** Of stderr. */
  said: string;
  /** On stdout. */
  hasPrinted: boolean;
}
interface Running {
  kill(): void;
  end: Promise<Ended>;
}

function started(
  argv: readonly string[],
  { cwd, home, env }: { cwd: string; home: string; env: Record<string, string> },
): Running {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, argv, {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let hasPrinted = false;
  child.stdout.on('data', () => (hasPrinted = true));
  let said = '';
  child.stderr.on('data', (part: Buffer) => (said = (said + part.toString()).slice(-2_000)));
  return {
    kill: () => void child.kill('SIGKILL'),
    end: new Promise((resolve, reject) => {
      child
        .once('error', reject)
        .once('close', (code, signal) => resolve({ exit: signal ? 137 : (code ?? -1), said, hasPrinted }));
    }),
  };
}

/** Kills the command at one of its writes, or, if it has fewer, not at all; one time in four at a random moment. */
async function killed(
  running: Running,
  { proxy, random, tally }: { proxy: KillingProxy; random: Random; tally: Tally },
): Promise<Ended> {
  const isTimed = random.below(4) === 0;
  const at = random.pick(['request', 'answer'] as const);
  let isBetween = false;
  proxy.lay(
    isTimed
      ? null
      : {
          // Most commands have one.
          write: random.below(2) * random.below(MOST_WRITES),
          at,
          reached() {
            isBetween = true;
            running.kill();
          },
        },
  );
  const timer = isTimed ? setTimeout(() => running.kill(), random.below(KILL_WITHIN_MS)) : undefined;
  const ended = await running.end;
  clearTimeout(timer);
  if (ended.exit === 137) tally.kills++;
  if (isBetween) tally.between++;
  return ended;
}

async function judge(one: Case, ground: Ground, tally: Tally): Promise<void> {
  for (const [what, times] of Object.entries(await one.effects(ground))) {
    if (times === 1) continue;
    tally[times < 1 ? 'missing' : 'doubled']++;
    tally.failures.push(`${one.name} of ${ground.name}: ${times} ${what} instead of one`);
  }
}
