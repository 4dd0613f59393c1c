import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MachineOptions } from '../machine/options.ts';
import type { DriverChoice } from '../sandbox/drivers.ts';
import { IN_OWN_MOUNTS, runnerEnv } from './own-mounts.ts';
import { runnerProgram } from './runner-program.ts';

const FIRST_PAUSE_MS = 1_000,
  LONGEST_PAUSE_MS = 30_000,
  /** After so long a runner's end says nothing about the next one's. */
  STEADY_MS = 60_000;

interface StartOptions {
  stateDir: string;
  machine: MachineOptions;
  sandboxes: Partial<DriverChoice>;
  /** Where workspaces lie; null: the runner chooses. */
  place?: string | null;
  nodePath?: string;
  /** Called once the first runner listens. */
  onReady(this: void): void;
  /** A line for the log. */
  say(this: void, line: string): void;
}

/** A node's runner, as its starter sees it. */
export interface MachineRunner {
  /** Passes a signal on: SIGTERM drains. No runner is started from then on. */
  stop(signal: 'SIGTERM' | 'SIGINT'): void;
  /** Resolves with the exit code once it has ended for good. */
  ended: Promise<number>;
}

/**
 * Starts a node's runner, and another one when it has ended, be it by its lease, by a fault or by the kernel: each
 * has an id of its own and finds nothing of the one before. A runner whose starter is killed ends by itself. Where
 * the first one cannot start, its end is the end.
 */
export function startMachine(options: StartOptions): MachineRunner {
  let child: ChildProcess | undefined;
  let isStopping = false;
  const wake = new AbortController();
  const run = async (): Promise<number> => {
    let pauseMs = FIRST_PAUSE_MS,
      wasReady = false;
    for (;;) {
      const startedAt = performance.now();
      child = await spawnRunner(options);
      child.stdout!.once('data', () => {
        if (!wasReady) options.onReady();
        wasReady = true;
      });
      if (isStopping) child.kill('SIGTERM');
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      if (isStopping) return code ?? 0;
      if (!wasReady) return code ?? 1;
      options.say(`the runner has ended (${signal ?? `code ${code}`}); the next one starts`);
      if (performance.now() - startedAt > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
      await sleep(pauseMs, undefined, { signal: wake.signal }).catch(() => {});
      if (wake.signal.aborted) return 0;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  };
  return {
    stop(signal) {
      isStopping = true;
      wake.abort();
      child?.kill(signal);
    },
    ended: run(),
  };
}

async function spawnRunner({
  stateDir,
  machine,
  sandboxes,
  place = null,
  nodePath = process.execPath,
}: StartOptions): Promise<ChildProcess> {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const program = await runnerProgram(stateDir);
  const args = ['--disable-warning=ExperimentalWarning', '--expose-gc', program, '--dir', stateDir];
  args.push('--machine', JSON.stringify(machine), '--sandboxes', JSON.stringify(sandboxes));
  if (place !== null) args.push('--place', place);
  const child = spawn('/bin/sh', ['-c', IN_OWN_MOUNTS, 'sh', nodePath, ...args], {
    // A terminal's signals are for the starter, which passes them on.
    detached: true,
    env: runnerEnv(),
    cwd: '/',
    // Its stdin ends with this process.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  child.once('error', () => {});
  return child;
}
