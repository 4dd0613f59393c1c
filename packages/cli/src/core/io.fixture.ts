/** For tests: an `Io` in a folder of its own, and what is written to it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Io } from './io.ts';

export interface TestIo extends Io {
  home: string;
  /** What stderr has so far. */
  said(): string;
}

export function testIo(env: Record<string, string> = {}): TestIo {
  const home = mkdtempSync(join(tmpdir(), 'headrace-cli-io-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const stderr = new PassThrough();
  let said = '';
  stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return {
    home,
    env: { HOME: home, ...env },
    cwd: home,
    program: [],
    stdin: new PassThrough().end(),
    stdout: new PassThrough(),
    stderr,
    onInterrupt: () => () => {},
    said: () => said,
  };
}
