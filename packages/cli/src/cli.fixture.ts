/** For tests: runs a command line in this process, with streams, a home and a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { differences } from './answers.fixture.ts';
import { COMMANDS } from './commands.ts';
import { parse } from './core/parse.ts';
import type { Io } from './core/io.ts';
import { headrace } from './headrace.ts';

export interface Ran {
  exit: number;
  stdout: string;
  /** Of stdout, where it is no text. */
  bytes: Buffer;
  stderr: string;
  /** Of stdout; throws for what is not JSON. */
  // Tests reach into documents by name; a wrong name fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  json(): any;
}
export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** What arrives on stdin. */
  stdin?: string | Buffer;
  /** All streams are a terminal's; a person types the keys when the text is seen after the answer before. */
  terminal?: { columns?: number; answers?: readonly (readonly [seen: string, keys: string])[] };
  /** Called with each piece of stdout or stderr. */
  onOutput?(text: string): void;
}

export interface TestCli {
  /** HOME and the working folder, empty at first. */
  home: string;
  cwd: string;
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Presses Ctrl-C in all commands that run. */
  interrupt(): void;
}

/** `service`: signs in by HEADRACE_URL and HEADRACE_KEY. */
export function testCli(service?: { url: string; key: string; fetch?: typeof fetch }): TestCli {
  const home = mkdtempSync(join(tmpdir(), 'headrace-cli-home-'));
  const cwd = mkdtempSync(join(tmpdir(), 'headrace-cli-'));
  onTestFinished(() => {
    for (const folder of [home, cwd]) rmSync(folder, { recursive: true, force: true });
  });
  const interrupts = new Set<() => void>();
  const signedIn = service ? { HEADRACE_URL: service.url, HEADRACE_KEY: service.key } : {};
  return {
    home,
    cwd,
    interrupt() {
      for (const listener of interrupts) listener();
    },
    async run(argv, { env = {}, cwd: folder = cwd, stdin = '', terminal, onOutput } = {}) {
      const collected = { stdout: '', stderr: '' };
      const pieces: Buffer[] = [];
      const isTTY = terminal && { isTTY: true, columns: terminal.columns ?? 80 };
      const typed = new PassThrough();
      if (!terminal) typed.end(stdin);
      const answers = [...(terminal?.answers ?? [])];
      let seen = '';
      const stream = (name: 'stdout' | 'stderr') =>
        Object.assign(
          new Writable({
            write(chunk: Buffer, _, done) {
              collected[name] += chunk.toString();
              if (name === 'stdout') pieces.push(chunk);
              onOutput?.(chunk.toString());
              seen += chunk.toString();
              const [next] = answers;
              if (next && seen.includes(next[0])) {
                seen = '';
                answers.shift();
                setImmediate(() => typed.write(next[1]));
              }
              done();
            },
          }),
          isTTY,
        );
      const io: Io = {
        env: { PATH: process.env.PATH, HOME: home, ...signedIn, ...env },
        cwd: folder,
        program: [process.execPath, join(import.meta.dirname, 'main.ts')],
        stdin: Object.assign(typed, isTTY && { ...isTTY, setRawMode: () => typed }),
        stdout: stream('stdout'),
        stderr: stream('stderr'),
        onInterrupt(listener) {
          interrupts.add(listener);
          return () => void interrupts.delete(listener);
        },
        ...(service?.fetch && { fetch: service.fetch }),
      };
      const exit = await headrace(argv, io);
      if (argv.includes('--json')) requireAnswer(argv, collected.stdout);
      return {
        exit,
        ...collected,
        bytes: Buffer.concat(pieces),
        json: () => JSON.parse(collected.stdout) as unknown,
      };
    },
  };
}

/** Every document that a test sees is what its command promises. */
function requireAnswer(argv: readonly string[], stdout: string): void {
  const { command } = tried(() => parse(argv, COMMANDS)) ?? {};
  const document = tried(() => JSON.parse(stdout) as { ok?: unknown });
  if (command?.answer === undefined || document?.ok !== true || argv.includes('--help')) return;
  const faults = differences(command.answer, document);
  if (faults.length > 0)
    throw new Error(`${argv.join(' ')} --json is no answer of ${command.answer}:\n${faults.join('\n')}`);
}

function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
