/** What holds for every command of the table: it is described, and refuses what it cannot do, each in its way. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { differences } from './answers.fixture.ts';
import { testCli } from './cli.fixture.ts';
import type { TestCli } from './cli.fixture.ts';
import { COMMANDS } from './commands.ts';
import { helpOf, plain } from './core/help.ts';
import { GLOBAL_OPTIONS } from './core/options.ts';
import { parse } from './core/parse.ts';
import type { Command } from './core/command.ts';

const URL_OF_TESTS = 'http://127.0.0.1:4400';
const KEY = `hrk_${'0'.repeat(26)}_${'a'.repeat(43)}000000`;
const APP = `prj_${'0'.repeat(26)}`;
/** No case takes longer. */
const LIMIT_MS = 5_000;
const PLAIN = { paint: (_: string, text: string) => text, width: 80 };

/** They need no sign-in, end one, or send nothing. Their own tests have these cases. */
const LOCAL: readonly string[] = ['doctor', 'host', 'login', 'logout', 'repos credential'];
/** What they know, or the refusal that they asked for, is data. */
const PRINTS_ANYWAY: readonly string[] = ['whoami', 'api'];
const REMOTE = COMMANDS.filter(({ scope, name }) => scope !== 'none' && !LOCAL.includes(name));

interface Word {
  word: string;
  isQuoted: boolean;
}
/** The words of the first `headrace …` in an example, as a shell splits them. */
function wordsOf(example: string): Word[] {
  const words: Word[] = [];
  let isOurs = false;
  for (const [, double, single, bare] of example.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)) {
    const word = double?.replaceAll(/\\(.)/g, '$1') ?? single ?? bare!;
    if (bare !== undefined && /^(\||&&|;|\d?>>?|<|&)$/.test(bare)) {
      if (isOurs) break;
      continue;
    }
    if (isOurs) words.push({ word, isQuoted: bare === undefined });
    else isOurs = bare === 'headrace';
  }
  return words;
}
const lineOf = (example: string): string[] => wordsOf(example).map(({ word }) => word);

test.each([
  ['headrace apps list', ['apps', 'list']],
  [`X=1 headrace send '~Shop' "say \\"hi\\"" 'a b' > out.txt`, ['send', '~Shop', 'say "hi"', 'a b']],
  ['printenv KEY | headrace login --key -', ['login', '--key', '-']],
])('the example %s is read as a shell does', (example, words) => {
  expect(lineOf(example)).toEqual(words);
});

/** A service that answers every request alike. */
function answering(answer: () => Response | Promise<Response>) {
  let count = 0;
  const service = {
    url: URL_OF_TESTS,
    key: KEY,
    fetch: (_: unknown, init?: RequestInit) => {
      count++;
      return new Promise<Response>((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error));
        void Promise.resolve(answer()).then(resolve, reject);
      });
    },
  };
  return { service: service as typeof service & { fetch: typeof fetch }, requests: () => count };
}

const refusing = (status: number, code: string, headers: Record<string, string> = {}) =>
  answering(() =>
    Response.json(
      { ok: false, error: { code, message: `Refused: ${code}.` } },
      { status, headers: { 'x-request-id': 'req_test', ...headers } },
    ),
  );

/** What `@last` may mean in an example, with the prefix of its ids. */
const LASTS: Readonly<Record<string, string>> = {
  app: 'prj',
  project: 'prj',
  thread: 'thr',
  source: 'src',
  apply: 'apl',
  build: 'bld',
  preview: 'prv',
  webhook: 'wh',
  automation: 'aut',
  task: 'task',
  execution: 'exe',
  'pull request': 'pr',
  repository: 'repo',
};

/** An example of the command that can be run here: the files that it names exist, and each `@last` is something. */
function runnable(command: Command, cli: TestCli): { argv: string[]; stdin: string } {
  const argv = lineOf(command.examples.findLast((example) => !UNFIT.test(example))!);
  const { input } = parse(argv, COMMANDS);
  const make = (kind: string | undefined, value: unknown) => {
    if (typeof value !== 'string' || value === '-' || value === '') return;
    const path = join(cli.cwd, value);
    if (kind === 'folder') mkdirSync(path, { recursive: true });
    if (kind === 'folder') writeFileSync(join(path, 'index.html'), 'x');
    if (kind === 'file') mkdirSync(dirname(path), { recursive: true });
    if (kind === 'file') writeFileSync(path, '{}');
  };
  const lasts = Object.entries(LASTS).flatMap(([what, prefix]) =>
    [URL_OF_TESTS, APP].map((of) => [`${what} ${of}`, `${prefix}_${'0'.repeat(26)}`]),
  );
  const state = join(cli.home, '.local/state/headrace');
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, 'last.json'), JSON.stringify(Object.fromEntries(lasts)));
  for (const [at, name] of (command.args ?? []).entries())
    for (const value of [(input.args as unknown[])[at]].flat())
      make(command.argCompletes?.[plain(name)], value);
  for (const [name, { completes }] of Object.entries(command.options ?? {}))
    for (const value of [(input.options as Record<string, unknown>)[name]].flat()) make(completes, value);
  return { argv: [...argv, '--yes'], stdin: '{}' };
}

/** Examples that do not end, that print no document, or that need a folder that was pushed. */
const UNFIT = / (--watch|--jsonl|--stat|-o -)( |$)/;

interface Case {
  env?: Record<string, string>;
  make?(): ReturnType<typeof answering>;
  exit: number;
  /** What stderr has to have. */
  says: RegExp;
  more?: string[];
}

/** The commands that do not end so, with what they do instead. */
async function deviations(
  { env = { HEADRACE_APP: APP }, make, exit, says, more = [] }: Case,
  commands = REMOTE,
): Promise<unknown[]> {
  const found: unknown[] = [];
  const { service, requests } = make?.() ?? {};
  const cli = testCli(service);
  for (const command of commands) {
    const { argv, stdin } = runnable(command, cli);
    const dashes = argv.includes('--') ? argv.indexOf('--') : argv.length;
    const line = [...argv.slice(0, dashes), ...more, ...argv.slice(dashes)];
    const isLate = setTimeout(() => cli.interrupt(), LIMIT_MS);
    const ran = await cli.run(line, { env, stdin });
    clearTimeout(isLate);
    const isFine = more.includes('--json')
      ? ran.exit === exit && ran.stderr === '' && says.test(ran.stdout) && isError(ran.stdout)
      : ran.exit === exit &&
        (ran.stdout === '' || PRINTS_ANYWAY.includes(command.name)) &&
        says.test(ran.stderr);
    if (!isFine) found.push([line.join(' '), ran.exit, ran.stdout, ran.stderr, requests?.()]);
  }
  return found;
}

/** Whether it is one document of an error, and nothing else. */
function isError(stdout: string): boolean {
  const { ok, error, ...others } = JSON.parse(stdout) as Record<string, unknown>;
  const { code, message } = error as Record<string, unknown>;
  return ok === false && typeof code === 'string' && !!message && Object.keys(others).length === 0;
}

describe('the table', () => {
  test('has each name once, in words that can be typed', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*( [a-z]+(-[a-z]+)*)?$/.test(name))).toEqual([]);
  });

  test('has options with names of their own, each described', () => {
    const shorts = Object.values(GLOBAL_OPTIONS).flatMap((one) => ('short' in one ? [one.short] : []));
    const faults = COMMANDS.flatMap(({ name, options = {} }) =>
      Object.entries(options)
        .filter(
          ([option, { help, short }]) =>
            !/^[a-z][a-z\d]*(-[a-z\d]+)*$/.test(option) ||
            option in GLOBAL_OPTIONS ||
            (shorts as (string | undefined)[]).includes(short ?? '-') ||
            help === '' ||
            help.endsWith('.'),
        )
        .map(([option]) => `${name} --${option}`),
    );
    expect(faults).toEqual([]);
  });

  test('has short options once in each command', () => {
    const faults = COMMANDS.filter(({ options = {} }) => {
      const shorts = Object.values(options).flatMap(({ short }) => short ?? []);
      return new Set(shorts).size !== shorts.length;
    });
    expect(faults.map(({ name }) => name)).toEqual([]);
  });

  test('describes every command and argument, and what --json prints', () => {
    const faults = COMMANDS.flatMap(({ name, summary, args = [], argHelp = {}, answer, details = '' }) => [
      ...(/^[A-Z].*[^.]$/.test(summary) ? [] : [`${name}: summary`]),
      ...args.filter((arg) => !argHelp[plain(arg)]).map((arg) => `${name}: ${arg}`),
      ...Object.keys(argHelp)
        .filter((arg) => !args.some((one) => plain(one) === arg))
        .map((arg) => `${name}: there is no ${arg}`),
      ...(answer !== undefined || details.includes('--json')
        ? []
        : [`${name}: neither answer nor details of --json`]),
    ]);
    expect(faults).toEqual([]);
  });

  test('names operations that exist, whose answers have a shape', () => {
    expect(differences('projects.createApp', { ok: true, app: {} })).not.toEqual([]);
    for (const { answer } of COMMANDS) if (answer !== undefined) differences(answer, {});
  });
});

describe('--help', () => {
  test('has usage, every option, and examples that are this command, within 80 columns', () => {
    const faults = COMMANDS.flatMap((command) => {
      const text = helpOf(command, PLAIN);
      const own = Object.keys(command.options ?? {});
      return [
        ...(text.includes(`\nUsage\n  headrace ${command.name}`) ? [] : ['usage']),
        ...own.filter((option) => !text.includes(`--${option}`)),
        ...command.examples.filter((line) => parse(lineOf(line), COMMANDS).command !== command),
        ...(command.examples.length === 0 ? ['example'] : []),
        ...text
          .split('\n')
          .filter((line) => line.length > 80 && !command.examples.some((one) => one.includes(line.trim()))),
      ].map((fault) => `${command.name}: ${fault}`);
    });
    expect(faults).toEqual([]);
  });

  test('has examples that mean the same in bash, zsh and fish', () => {
    const faults = COMMANDS.flatMap(({ examples }) =>
      examples.filter((example) =>
        wordsOf(example).some(({ word, isQuoted }) => !isQuoted && /^[~=]|[[\]{}*?$]/.test(word)),
      ),
    );
    expect(faults).toEqual([]);
  });

  test('is printed without a service, a key or a home', async () => {
    const cli = testCli();
    for (const { name } of COMMANDS) {
      const { exit, stderr } = await cli.run([...name.split(' '), '--help'], { env: { HOME: '/nowhere' } });
      expect([name, exit, stderr]).toEqual([name, 0, '']);
    }
  });
});

describe('exit code 2, and nothing is sent', () => {
  const wrong = async (argvOf: (command: Command, argv: string[]) => string[] | undefined) => {
    const found: unknown[] = [];
    const { service, requests } = refusing(500, 'internal');
    const cli = testCli(service);
    for (const command of COMMANDS) {
      const argv = argvOf(command, lineOf(command.examples[0]!));
      if (!argv) continue;
      const { exit, stdout, stderr } = await cli.run(argv);
      if (exit !== 2 || stdout !== '' || !stderr.includes('headrace') || requests() > 0)
        found.push([argv.join(' '), exit, stdout, stderr, requests()]);
    }
    return found;
  };

  test('an option that the command does not have', async () => {
    expect(await wrong(({ name }) => [...name.split(' '), '--nonsense'])).toEqual([]);
  });

  test.each([
    ['app', 'prj_1', ({ scope }: Command) => scope === 'app'],
    ['url', URL_OF_TESTS, ({ scope }: Command) => scope !== 'none'],
    ['context', 'work', ({ scope }: Command) => scope !== 'none'],
  ])('--%s, where the command has no use for it', async (option, value, isOfUse) => {
    const ignored = COMMANDS.filter((command) => !isOfUse(command));
    expect(ignored.length).toBeGreaterThan(5);
    const lineOfIgnored = ({ name }: Command) => [...name.split(' '), `--${option}`, value];
    expect(await wrong((command) => (isOfUse(command) ? undefined : lineOfIgnored(command)))).toEqual([]);
    for (const command of ignored)
      expect(() => parse(lineOfIgnored(command), COMMANDS)).toThrow(
        `has no use for --${option}: leave it out.`,
      );
  });

  test('too many arguments', async () => {
    expect(
      await wrong(({ name, args = [] }) =>
        args.at(-1)?.includes('...')
          ? undefined
          : [...name.split(' '), ...Array<string>(args.length + 1).fill('x')],
      ),
    ).toEqual([]);
  });

  test('a missing argument', async () => {
    expect(
      await wrong(({ name, args = [] }) =>
        args[0] && !args[0].startsWith('[') ? name.split(' ') : undefined,
      ),
    ).toEqual([]);
  });
});

describe.each([
  ['', []],
  [' with --json', ['--json']],
])('every command%s', (_, more) => {
  test('without a sign-in exits with 4 and says how to sign in', async () => {
    const env = { HEADRACE_APP: APP };
    expect(await deviations({ env, exit: 4, says: /headrace login/, more })).toEqual([]);
  });

  test('with a key that is not known exits with 4', async () => {
    const make = () => refusing(401, 'unauthorized');
    expect(await deviations({ make, exit: 4, says: /headrace login/, more })).toEqual([]);
  });

  test('exits with 3 while the service is away', async () => {
    // After a long Retry-After the client gives up at once.
    const make = () => refusing(503, 'unavailable', { 'retry-after': '3600' });
    const commands = REMOTE.filter(({ needsSession }) => !needsSession);
    expect(await deviations({ make, exit: 3, says: /unavailable|[Rr]un the same/, more }, commands)).toEqual(
      [],
    );
  });
});

test('where nothing listens, a command ends with 3 after its attempts', async () => {
  const { service } = answering(() => Promise.reject(new TypeError('fetch failed')));
  const ran = await testCli(service).run(['apps', 'list']);
  expect([ran.exit, ran.stdout, ran.stderr]).toEqual([
    3,
    '',
    expect.stringMatching(/did not answer: .*\n {2}→ Is the service running/),
  ]);
});

test('every command ends with 130 within a second after Ctrl-C', async () => {
  const found: unknown[] = [];
  const { service } = answering(() => {
    cli.interrupt();
    return new Promise(() => {});
  });
  const cli = testCli(service);
  for (const command of REMOTE.filter(({ needsSession }) => !needsSession)) {
    const { argv, stdin } = runnable(command, cli);
    const from = performance.now();
    const { exit } = await cli.run(argv, { env: { HEADRACE_APP: APP }, stdin });
    if (exit !== 130 || performance.now() - from > 1000)
      found.push([argv.join(' '), exit, performance.now() - from]);
  }
  expect(found).toEqual([]);
});

test('documents quote names after ~, which are folders in zsh', () => {
  const root = new URL('../../../', import.meta.url);
  const guides = readdirSync(new URL('docs/guides/', root)).map((name) => `docs/guides/${name}`);
  const faults = ['README.md', 'packages/cli/README.md', ...guides].flatMap((path) =>
    readFileSync(new URL(path, root), 'utf8')
      .split('\n')
      .filter((line) => /headrace .*\s~\w/.test(line)),
  );
  expect(faults).toEqual([]);
});

test('help loads no client and no code of a command', async () => {
  const { metafile } = await build({
    entryPoints: { start: fileURLToPath(new URL('headrace.ts', import.meta.url)) },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir: '/nowhere',
    write: false,
    metafile: true,
  });
  const loaded = new Set<string>();
  const load = (file: string) => {
    for (const { path, kind, external } of metafile.outputs[file]!.imports)
      if (kind === 'import-statement' && !loaded.has(path)) {
        loaded.add(path);
        if (!external) load(path);
      }
  };
  load(Object.keys(metafile.outputs).find((file) => file.endsWith('/start.js'))!);
  expect([...loaded].filter((path) => path.startsWith('node:')).toSorted()).toEqual([
    'node:crypto',
    'node:fs',
    'node:os',
    'node:path',
    'node:util',
  ]);
  expect([...loaded].filter((path) => /^@|^fast-/.test(path))).toEqual([]);
});
