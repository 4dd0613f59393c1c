import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

interface ShellResult {
  exitCode: number | null;
  signal: string | null;
  output: string;
  truncated: boolean;
}

/** The part of its output that a tool call keeps. */
const OUTPUT_BYTES = 64 * 1024;
/** A longer command does not fit into one argument (the kernel's limit is 128 KiB). */
const ARGUMENT_BYTES = 100 * 1024;
const DRAIN_ROUNDS = 64;

/**
 * Runs a command by `sh -e` with empty stdin; both output streams share one pipe, which keeps their order.
 * Resolves when sh exits: its background processes may hold the pipe for as long as they like.
 */
export function runShell(command: string, cwd: string): Promise<ShellResult> {
  const isLong = Buffer.byteLength(command) > ARGUMENT_BYTES;
  if (isLong) writeFileSync('/tmp/.command.sh', command);
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      isLong ? 'exec sh -e /tmp/.command.sh 2>&1' : 'exec sh -e -c "$1" 2>&1',
      'sh',
      isLong ? '' : command,
    ],
    { cwd, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const parts: Buffer[] = [];
  let size = 0,
    seen = 0;
  child.stdout.on('data', (part: Buffer) => {
    seen++;
    size += part.length;
    if (size - part.length < OUTPUT_BYTES) parts.push(part.subarray(0, OUTPUT_BYTES - (size - part.length)));
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (exitCode, signal) => {
      const end = (): void =>
        resolve({
          exitCode,
          signal,
          output: Buffer.concat(parts)
            .toString()
            .replace(/\uFFFD$/, ''),
          truncated: size > OUTPUT_BYTES,
        });
      // sh's own output is in the pipe by now: two turns of the event loop without data mean that it has been
      // read.
      const drain = (rounds: number, before: number): void => {
        if (rounds === 0) return end();
        setImmediate(() => setImmediate(() => (seen === before ? end() : drain(rounds - 1, seen))));
      };
      drain(DRAIN_ROUNDS, seen);
    });
  });
}
