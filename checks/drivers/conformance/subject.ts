import { randomUUID } from 'node:crypto';
import type { SandboxLimits } from '../../../packages/runner/src/protocol.ts';
import type { Bench } from '../../../packages/runner/src/runner.fixture.ts';
import { collect, type Collected } from '../../../packages/runner/src/sandbox/collect.ts';
import {
  DEFAULT_LIMITS,
  WORKSPACE,
  type Bind,
  type Sandbox,
} from '../../../packages/runner/src/sandbox/driver.ts';
import { makeSandboxFolder, startSandbox } from '../../../packages/runner/src/sandbox/host.ts';

/** Starts sandboxes of the driver under test. */
export interface Subject {
  bench: Bench;
  /** A sandbox with its own workspace; `command` is a line for the shell, or words. Its stdin is open. */
  start(command: string | string[], options?: Options): Sandbox;
  /** Like `start`, without any input, and waits for its end. */
  run(command: string | string[], options?: Options): Promise<Collected>;
  /** The trimmed stdout. */
  said(command: string | string[], options?: Options): Promise<string>;
}

export interface Options {
  limits?: Partial<SandboxLimits>;
  binds?: Bind[];
  env?: Record<string, string>;
}

export const MEBI = 1024 ** 2;

export function subjectOf(bench: Bench): Subject {
  const start: Subject['start'] = (command, { limits = {}, binds = [], env } = {}) =>
    startSandbox(bench.host, {
      command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
      limits: { ...DEFAULT_LIMITS, ...limits },
      ...(env && { env }),
      binds: [
        { host: makeSandboxFolder(bench.host, randomUUID()), inside: WORKSPACE, readOnly: false },
        ...binds,
      ],
    });
  const run: Subject['run'] = (command, options) => {
    const sandbox = start(command, options);
    sandbox.stdin.end();
    return collect(sandbox, { maxBytes: 2 * MEBI, timeoutMs: 20_000 });
  };
  return {
    bench,
    start,
    run,
    said: async (command, options) => (await run(command, options)).stdout.toString().trim(),
  };
}
