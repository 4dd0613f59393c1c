/**
 * For tests: runs `headrace`, or a shell, on a real pseudo-terminal, and shows what a person sees there. Tests that need one are
 * `ptyTest`s: where the native module does not load, they are skipped, which stderr says.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const LIMIT_MS = 20_000;
const KEYS = {
  enter: '\r',
  escape: '\x1b',
  space: ' ',
  tab: '\t',
  backspace: '\x7f',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  'ctrl-c': '\x03',
  'ctrl-d': '\x04',
} as const;

export interface TerminalOptions {
  /** What runs instead of `headrace`, and its first arguments. */
  program?: readonly [string, ...string[]];
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
  cwd?: string;
  /** Signs in by HEADRACE_URL and HEADRACE_KEY. */
  service?: { url: string; key: string };
  /** HOME; a new one by default. */
  home?: string;
}
export interface Terminal {
  home: string;
  pid: number;
  type(text: string): void;
  press(...keys: (keyof typeof KEYS)[]): void;
  /** The lines that a person sees, without empty ones at the end. */
  screen(): string[];
  /** Everything since the start, also what was scrolled out of sight, as lines. */
  history(): string[];
  /** The bytes as they were sent, with escape sequences. */
  sent(): string;
  /** Waits until the screen contains the text, or is as the function wants it. Returns the screen. */
  waitFor(wanted: string | RegExp | ((screen: string[]) => boolean)): Promise<string[]>;
  resize(columns: number, rows: number): void;
  /** The exit code, or 128 and the signal's number, when all output is on the screen. */
  exit: Promise<number>;
}

const modules = load();
/** A test that needs a pseudo-terminal. */
export const ptyTest = modules ? test : test.skip;

function load() {
  // Both are CommonJS modules; one is native, and its binary is an optional dependency.
  const require = createRequire(import.meta.url);
  try {
    const { spawn } = require('@lydell/node-pty') as typeof import('@lydell/node-pty');
    const { Terminal: Screen } = require('@xterm/headless') as typeof import('@xterm/headless');
    return { spawn, Screen };
  } catch (error) {
    process.stderr.write(
      `Tests on a pseudo-terminal are SKIPPED: ${(error as Error).message.split('\n')[0]!}\n`,
    );
    return undefined;
  }
}

/** Starts the command. It is killed when the test has ended. */
export function terminal(argv: readonly string[], options: TerminalOptions = {}): Terminal {
  const { spawn, Screen } = modules!;
  const { columns: cols = 80, rows = 24, service, program = [process.execPath, MAIN] } = options;
  const made = [options.home, options.cwd].map(
    (given) => given ?? mkdtempSync(join(tmpdir(), 'headrace-pty-')),
  );
  const [home, cwd] = made as [string, string];
  const screen = new Screen({ cols, rows, scrollback: 10_000, allowProposedApi: true });
  const pty = spawn(program[0], [...program.slice(1), ...argv], {
    name: 'xterm-256color',
    cols,
    rows,
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      LANG: 'C.UTF-8',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...(service && { HEADRACE_URL: service.url, HEADRACE_KEY: service.key }),
      ...options.env,
    },
  });
  let sent = '';
  const looks = new Set<() => void>();
  const look = () => {
    for (const one of looks) one();
  };
  pty.onData((data) => {
    sent += data;
    screen.write(data, look);
  });
  let isRunning = true;
  const exit = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      isRunning = false;
      screen.write('', () => {
        look();
        resolve(signal ? 128 + signal : exitCode);
      });
    });
  });
  onTestFinished(async () => {
    if (isRunning) pty.kill('SIGKILL');
    await exit;
    screen.dispose();
    for (const [at, folder] of made.entries())
      if ([options.home, options.cwd][at] === undefined) rmSync(folder, { recursive: true, force: true });
  });
  const { active } = screen.buffer;
  const linesFrom = (first: number) => {
    const lines = Array.from(
      { length: active.length - first },
      (_, at) => active.getLine(first + at)?.translateToString(true) ?? '',
    );
    return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
  };
  const seen = () => linesFrom(active.baseY);

  return {
    home,
    pid: pty.pid,
    type: (text) => pty.write(text),
    press: (...keys) => keys.forEach((key) => pty.write(KEYS[key])),
    screen: seen,
    history: () => linesFrom(0),
    sent: () => sent,
    waitFor: (wanted) =>
      new Promise((resolve, reject) => {
        const fits = (lines: string[]) =>
          typeof wanted === 'function'
            ? wanted(lines)
            : typeof wanted === 'string'
              ? lines.join('\n').includes(wanted)
              : wanted.test(lines.join('\n'));
        const end = (error?: Error) => {
          looks.delete(check);
          clearTimeout(timer);
          if (error) reject(error);
          else resolve(seen());
        };
        const failed = (why: string) =>
          end(new Error(`${why} without ${String(wanted)}:\n${seen().join('\n')}`));
        const check = () => {
          if (fits(seen())) end();
          else if (!isRunning) failed('The command ended');
        };
        const timer = setTimeout(() => failed(`${LIMIT_MS / 1000} s passed`), LIMIT_MS);
        looks.add(check);
        check();
      }),
    resize(columns, newRows) {
      pty.resize(columns, newRows);
      screen.resize(columns, newRows);
    },
    exit,
  };
}
