/** The README's first five minutes, by the command line alone. */
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface Person {
  node: string;
  /** The installed command. */
  program: string;
  home: string;
  cwd: string;
  user: { uid?: number; gid?: number };
}

interface Ended {
  exit: number;
  stdout: string;
  stderr: string;
}

const LIMIT_MS = 120_000;
const RUN = ['```sh', 'echo "<p>Open all day</p>" >> index.html', '```'].join('\n');

/** Returns what was done. Throws at the first step that does not end as it should. */
export async function firstFiveMinutes(
  person: Person,
  { base, key }: { base: string; key: string },
): Promise<string> {
  const done: string[] = [];
  const step = async (argv: string[], { exit = 0, stdin = '' } = {}) => {
    const ended = await headrace(person, argv, stdin);
    if (ended.exit !== exit)
      throw new Error(`${argv.join(' ')} ended with ${ended.exit}: ${ended.stdout}${ended.stderr}`);
    done.push(argv[0]!);
    return ended;
  };
  const require = (isTrue: boolean, what: string) => {
    if (!isTrue) throw new Error(what);
  };

  const help = await step(['--help']);
  require(help.stdout.includes('headrace <command>'), `help is ${help.stdout}`);
  await step(['whoami'], { exit: 4 });
  await step(['login', base], { stdin: `${key}\n` });
  const contexts = join(person.home, '.config/headrace/contexts.json');
  require((statSync(contexts).mode & 0o777) === 0o600, `others may read ${contexts}`);
  await step(['whoami']);
  const { app } = documentOf(await step(['apps', 'create', 'Shop', '--json'])) as { app: { id: string } };
  await step(['link', app.id]);
  await write(person, 'site one/index.html', '<h1>Shop</h1>\n');
  await step(['push', 'site one', '-m', 'First']);
  const files = await step(['files']);
  require(files.stdout.includes('index.html'), `the files are ${files.stdout}`);
  await step(['run', RUN, '--apply']);
  await step(['pull', 'head', 'site two']);
  const pulled = readFileSync(join(person.cwd, 'site two/index.html'), 'utf8');
  require(pulled === '<h1>Shop</h1>\n<p>Open all day</p>\n', `the pulled file is ${pulled}`);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await step(['completion', shell]);
    require(stdout.includes('headrace'), `there is no completion for ${shell}`);
  }
  const elsewhere = await step(['backup', 'x'], { exit: 2 });
  require(elsewhere.stderr.includes('npm run headrace -- backup'), `backup says ${elsewhere.stderr}`);
  await step(['apps', 'lst'], { exit: 2 });
  return [...new Set(done)].join(', ');
}

const documentOf = ({ stdout }: Ended): unknown => JSON.parse(stdout);

const headrace = (person: Person, argv: string[], stdin: string): Promise<Ended> =>
  ran(person, [person.program, ...argv], stdin);

/** As the person, so that the file is theirs. */
async function write(person: Person, path: string, content: string): Promise<void> {
  const script = `const fs = require('fs'), [path, content] = process.argv.slice(1);
fs.mkdirSync(require('path').dirname(path), { recursive: true }); fs.writeFileSync(path, content);`;
  const { exit, stderr } = await ran(person, ['-e', script, path, content], '');
  if (exit !== 0) throw new Error(`${path} cannot be written: ${stderr}`);
}

async function ran(
  { node, home, cwd, user }: Person,
  argv: readonly string[],
  stdin: string,
): Promise<Ended> {
  const child = spawn(node, argv, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home },
    timeout: LIMIT_MS,
    ...user,
  });
  child.stdin.end(stdin);
  const [stdout, stderr, exit] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve, reject) => {
      child.once('error', reject).once('close', (code) => resolve(code ?? -1));
    }),
  ]);
  return { exit, stdout, stderr };
}
