import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Apply } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import stringWidth from 'fast-string-width';
import { describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';
import { clientOf, diverged, headFile } from './applies.fixture.ts';
import type { Changes } from './applies.fixture.ts';

const THREE = { a: 'base\n', b: 'base\n', c: 'base\n' };
const sides = (content: string): Changes => ({ a: content, b: content, c: content });

async function shop(
  base: Record<string, string> = THREE,
  head: Changes = sides('head\n'),
  draft: Changes = sides('draft\n'),
) {
  const memory = createTestService();
  const bodies: { path: string; body: Record<string, unknown> }[] = [];
  const service = {
    ...memory,
    fetch: ((url: string, init?: RequestInit) => {
      if (init?.method === 'POST' && typeof init.body === 'string')
        bodies.push({ path: url, body: JSON.parse(init.body) as Record<string, unknown> });
      return memory.fetch(url, init);
    }) as typeof fetch,
  };
  const client = clientOf(memory);
  const made = await diverged(client, base, head, draft);
  const cli = testCli(service);
  const apply = (argv: string[] = [], options?: Parameters<TestCli['run']>[1]) =>
    cli.run(['apply', made.threadId, ...argv, '--app', made.appId], {
      ...options,
      env: { NO_COLOR: '1', ...options?.env },
    });
  /** The bodies of the writes to a path that ends so. */
  const sent = (end: string) =>
    bodies.flatMap(({ path, body }) => (path.endsWith(`${made.threadId}${end}`) ? [body] : []));
  return {
    ...made,
    service,
    client,
    cli,
    apply,
    sent,
    head: (path: string) => headFile(client, made.appId, path),
  };
}
const clean = () => shop({ a: 'base\n' }, { b: 'head\n' }, { a: 'draft\n' });

/** A script that stands in for a person's editor. */
function editor(cli: TestCli, script: string): Record<string, string> {
  const path = join(cli.home, 'my editor');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  return { EDITOR: `'${path}' --flag` };
}

describe('without conflicts', () => {
  test('shows what changes, asks, applies, and shows the new head', async () => {
    const { apply, head, sent, sourceId } = await clean();
    const refused = await apply();
    expect(refused).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining('give --yes') });
    const made = await apply(['--yes']);
    expect(made.exit).toBe(0);
    expect(made.stderr).toBe('  M a  +1 -1\n1 file, +1 -1\n');
    expect(made.stdout).toMatch(/^applied  apl_.*\nthread  thr_.*\nhead    src_\w+, revision 3\n$/);
    expect(await head('a')).toBe('draft\n');
    expect(sent('/apply')).toMatchObject([{ expectedSourceId: sourceId, conflictResolution: 'manual' }]);
    expect(sent('/apply')[0]).not.toHaveProperty('expectedHeadSourceId');
    const again = await apply(['--yes']);
    expect(again).toMatchObject({ exit: 0, stderr: 'The draft was already applied, just now.\n' });
  });

  test('--preview changes nothing; --no-wait prints the id', async () => {
    const { apply, service, sent } = await clean();
    const shown = await apply(['--preview']);
    expect([shown.exit, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/^  M a  \+1 -1\n1 file, \+1 -1\nclean, with the head src_\w+\n$/),
    ]);
    expect((await apply(['--preview', '--json'])).json()).toMatchObject({
      ok: true,
      preview: { status: 'clean' },
    });
    expect(sent('/apply')).toEqual([]);
    service.pause();
    const queued = await apply(['--no-wait', '--yes']);
    expect([queued.exit, queued.stdout]).toEqual([0, expect.stringMatching(/^apl_\w+\n$/)]);
    expect(queued.stderr).toContain(`headrace applies show ${queued.stdout.trim()} --wait`);
    service.resume();
    // The command that is run again follows the apply that is under way, or has been.
    expect((await apply(['--yes', '--json'])).json()).toMatchObject({
      ok: true,
      apply: { id: queued.stdout.trim(), status: 'applied' },
    });
  });

  test('a question on the terminal that is answered with no applies nothing', async () => {
    const { apply, sent } = await clean();
    const ran = await apply([], { terminal: { answers: [['Apply to the head?', 'n']] } });
    expect([ran.exit, ran.stdout]).toEqual([6, '']);
    expect(sent('/apply')).toEqual([]);
  });

  test('Ctrl-C while waiting leaves the apply, and the same command goes on with it', async () => {
    const { apply, service, cli, sent } = await clean();
    service.pause();
    const left = await apply(['--yes'], {
      onOutput: (text) => text.includes('Merging') && cli.interrupt(),
    });
    expect(left).toMatchObject({
      exit: 130,
      stdout: '',
      stderr: expect.stringMatching(/The apply goes on: headrace applies show apl_\w+ --wait/),
    });
    service.resume();
    expect((await apply(['--yes'])).exit).toBe(0);
    expect(sent('/apply')).toHaveLength(1);
  });
});

describe('conflicts without a terminal', () => {
  test('are listed with the line that decides them, and that line works', async () => {
    const { apply, cli, threadId, appId, head } = await shop();
    const ran = await apply(['--resolve', 'a=draft']);
    expect([ran.exit, ran.stdout]).toEqual([6, 'content\tb\ncontent\tc\n']);
    const line = `headrace apply ${threadId} --app ${appId} --resolve a=draft --resolve b=head --resolve c=head --yes`;
    expect(ran.stderr).toContain(`→ ${line}\n`);
    expect((await apply(['--json'])).json()).toMatchObject({ ok: true, preview: { status: 'conflicted' } });
    const made = await cli.run(line.split(' ').slice(1));
    expect(made.exit).toBe(0);
    expect([await head('a'), await head('b')]).toEqual(['draft\n', 'head\n']);
  });

  test('--resolve takes folders, the exact path first, and local files', async () => {
    const files = (text: string) => ({ 'src/a': text, 'src/b': text, 'x=y': text });
    const { apply, cli, head } = await shop(files('base\n'), files('head\n'), files('draft\n'));
    writeFileSync(join(cli.cwd, 'mine'), 'mine\r\nno end');
    const ran = await apply([
      '--resolve',
      'src/=head',
      '--resolve',
      'src/b=draft',
      '--resolve',
      'x=y=mine',
      '--yes',
      '--json',
    ]);
    expect([ran.exit, ran.json().apply.status]).toEqual([0, 'applied']);
    expect([await head('src/a'), await head('src/b'), await head('x=y')]).toEqual([
      'head\n',
      'draft\n',
      'mine\r\nno end',
    ]);
  });

  test.each([
    [['--resolve', 'none=head'], 'not in conflict'],
    [['--resolve', 'a'], 'PATH=head'],
    [['--resolve', 'a=head', '--resolve', 'a=draft'], 'twice'],
    [['--resolve', 'a=none.txt'], 'neither head nor draft'],
    [['--agent', '--manual'], 'exclude each other'],
  ])('%j is wrong use, and nothing is sent', async (argv, message) => {
    const { apply, sent } = await shop();
    expect(await apply([...argv, '--yes'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(message),
    });
    expect(sent('/apply')).toEqual([]);
  });

  test('--manual sends it with what is decided; --agent lets an agent try, after the decisions for the head', async () => {
    const { apply, sent } = await shop();
    const manual = await apply(['--manual', '--resolve', 'a=head', '--yes', '--json']);
    expect([manual.exit, manual.json().apply.conflicts]).toEqual([6, ['b', 'c']]);
    const agent = await apply(['--agent', '--resolve', 'a=head', '--yes', '--json']);
    expect([agent.exit, agent.json().apply]).toMatchObject([
      6,
      { conflictResolution: 'agent', resolutions: [], conflicts: ['b', 'c'] },
    ]);
    expect(sent('/edits').map(({ changes }) => changes)).toContainEqual([
      { path: 'a', content: 'head\n', encoding: 'utf8', executable: false },
    ]);
  });

  test('a head that has moved since is a conflict, and nothing is applied', async () => {
    const { apply, service } = await shop();
    service.failNext('applies.create', { code: 'stale_head' });
    const ran = await apply([
      '--resolve',
      'a=head',
      '--resolve',
      'b=head',
      '--resolve',
      'c=head',
      '--yes',
      '--json',
    ]);
    expect([ran.exit, ran.json().error.code]).toEqual([6, 'stale_head']);
  });
});

describe('conflicts on a terminal', () => {
  const at = (number: number, keys: string) => [`Conflict ${number} of 3`, keys] as const;

  test('are decided key by key, with undo, and sent as shown', async () => {
    const { apply, head, sent, cli } = await shop();
    const env = editor(cli, `printf 'mine\\r\\nno end' > "$2"`);
    const ran = await apply([], {
      env,
      terminal: {
        answers: [at(1, 'h'), at(2, 'd'), at(3, 'u'), at(2, 'e'), at(3, 'b'), ['yes, apply', 'y']],
      },
    });
    expect([ran.exit, ran.stdout]).toEqual([0, expect.stringContaining('applied')]);
    expect([await head('a'), await head('b'), await head('c')]).toEqual([
      'head\n',
      'mine\r\nno end',
      'head\ndraft\n',
    ]);
    expect(ran.stderr).toContain('  head   a\n  text   b  from the editor\n  text   c  from both sides\n');
    expect(sent('/apply')).toMatchObject([
      {
        resolutions: [
          { path: 'a', take: 'head' },
          { path: 'b', take: 'draft' },
          { path: 'c', take: 'draft' },
        ],
      },
    ]);
  });

  test('a skipped one keeps everything from being sent; the next time, the decisions are offered', async () => {
    const { apply, sent, head } = await shop();
    const left = await apply([], {
      terminal: { answers: [at(1, 'd'), at(2, 's'), at(3, 'h'), ['nothing is applied', 'q']] },
    });
    expect([left.exit, left.stdout]).toEqual([6, '']);
    expect(left.stderr).toContain('  open   b\n1 conflict open, so nothing is applied.');
    expect(sent('/apply')).toEqual([]);
    const ran = await apply([], {
      terminal: {
        answers: [['Use the 2 decisions that you made just now?', 'y'], at(2, 'h'), ['yes, apply', 'y']],
      },
    });
    expect([ran.exit, await head('a'), await head('b')]).toEqual([0, 'draft\n', 'head\n']);
  });

  test.each([
    ['q', 6],
    ['\u0003', 130],
  ])('%j in the middle applies nothing and keeps what was decided', async (key, exit) => {
    const { apply, sent } = await shop();
    const left = await apply([], { terminal: { answers: [at(1, 'd'), at(2, key)] } });
    expect([left.exit, sent('/apply')]).toEqual([exit, []]);
    expect(left.stderr).toContain('Nothing is applied. The decisions are kept');
    const again = await apply([], { terminal: { answers: [['Use the 1 decision', 'y'], at(2, 'q')] } });
    expect(again.exit).toBe(6);
    const none = await apply([], { terminal: { answers: [['Use the 1 decision', 'n'], at(1, 'q')] } });
    expect(none.exit).toBe(6);
  });

  test('a head that moves in the middle asks only about what has changed', async () => {
    const { apply, service, appId, sent, head } = await shop();
    let isMoved = false;
    const ran = await apply([], {
      terminal: {
        answers: [at(1, 'd'), at(2, 'd'), at(3, 'h'), ['yes, apply', 'y'], at(2, 'h'), ['yes, apply', 'y']],
      },
      onOutput(text) {
        if (isMoved || !text.includes('3 conflicts')) return;
        isMoved = true;
        service.moveHead(appId, { b: 'newer\n' });
      },
    });
    expect([ran.exit, ran.stderr.match(/Conflict \d of 3/g)]).toEqual([
      0,
      ['1', '2', '3', '2'].map((one) => `Conflict ${one} of 3`),
    ]);
    expect(ran.stderr).toContain('The head has moved since.');
    expect(sent('/apply')).toHaveLength(2);
    expect([await head('a'), await head('b'), await head('c')]).toEqual(['draft\n', 'newer\n', 'head\n']);
  });

  test('a head that moves between the call and the merge is decided again', async () => {
    const { apply, service, appId, head } = await shop({ a: 'base\n' }, { a: 'head\n' }, { a: 'draft\n' });
    service.pause();
    const ran = await apply([], {
      terminal: {
        answers: [
          ['Conflict 1 of 1', 'd'],
          ['yes, apply', 'y'],
          ['Conflict 1 of 1', 'h'],
          ['yes, apply', 'y'],
        ],
      },
      onOutput(text) {
        if (!text.includes('Merging')) return;
        service.moveHead(appId, { a: 'newer\n' });
        service.resume();
      },
    });
    expect([ran.exit, await head('a')]).toEqual([0, 'newer\n']);
  });

  test('markers that are left are asked about, and an editor that fails decides nothing', async () => {
    const { apply, cli, head } = await shop({ a: 'base\n' }, { a: 'head\n' }, { a: 'draft\n' });
    const env = editor(
      cli,
      `n=$(cat "$HOME/n" 2>/dev/null); echo "x$n" > "$HOME/n"
case "$n" in
  '') echo half > "$2"; exit 3;;
  x) exit 0;;
  xx) echo more >> "$2";;
  *) grep -c more "$2" > "$HOME/seen"; echo done > "$2";;
esac`,
    );
    const ran = await apply([], {
      env,
      terminal: {
        answers: [
          ['Conflict 1 of 1', 'e'],
          ['What it saved is kept', 'e'],
          ['still open', 'e'],
          ['Markers are left in lines 1, 3, 5.', 'e'],
          ['yes, apply', 'y'],
        ],
      },
    });
    expect([ran.exit, await head('a')]).toEqual([0, 'done\n']);
    // The second time, the editor has the text of the first time.
    expect(readFileSync(join(cli.home, 'seen'), 'utf8')).toBe('1\n');
    const kept = /What it saved is kept: (.*)/.exec(ran.stderr)![1]!;
    expect(readFileSync(kept, 'utf8')).toBe('half\n');
  });

  test('an agent takes what is left to it, and decisions for the head go into the draft', async () => {
    const { apply, sent } = await shop();
    const ran = await apply([], { terminal: { answers: [at(1, 'h'), at(2, 'a'), ['yes, apply', 'y']] } });
    // There is no agent here, so the conflicts stay.
    expect([ran.exit, ran.stdout]).toEqual([6, expect.stringContaining('not_configured')]);
    expect(ran.stderr).toContain('  head   a\n  agent  b\n  agent  c\n');
    expect(sent('/apply')).toMatchObject([{ conflictResolution: 'agent' }]);
    expect(sent('/apply')[0]).not.toHaveProperty('resolutions');
    expect(sent('/edits').at(-1)).toMatchObject({ changes: [{ path: 'a', content: 'head\n' }] });
  });
});

describe('decisions that are kept', () => {
  const decideOne = [
    ['Conflict 1 of 3', 'h'],
    ['Conflict 2 of 3', 'q'],
  ] as const;

  test('where the home cannot be written, the command says that they are not', async () => {
    const { apply, cli } = await shop();
    writeFileSync(join(cli.home, 'file'), '');
    const env = { XDG_STATE_HOME: join(cli.home, 'file') };
    const left = await apply([], { env, terminal: { answers: decideOne } });
    expect([left.exit, left.stderr]).toEqual([
      6,
      expect.stringMatching(/Nothing is applied\. The decisions are not kept: E(NOTDIR|EXIST)/),
    ]);
    const { home } = cli;
    const none = await apply([], { env: { HOME: home }, terminal: { answers: [['Conflict 1 of 3', 'q']] } });
    expect(none.stderr).toMatch(/Nothing is applied\.\n$/);
  });

  test.each([
    ['not JSON', () => '{'],
    ['an own text without contents', (text: string) => text.replace('"take": "head"', '"own": {}')],
  ])('%s count for nothing', async (_, damage) => {
    const { apply, cli } = await shop();
    await apply([], { terminal: { answers: decideOne } });
    const folder = join(cli.home, '.local/state/headrace/decisions');
    const [name] = readdirSync(folder);
    writeFileSync(join(folder, name!), damage(readFileSync(join(folder, name!), 'utf8')));
    const again = await apply([], { terminal: { answers: [['Conflict 1 of 3', 'q']] } });
    expect(again.exit).toBe(6);
    expect(again.stderr).not.toContain('Use the');
  });
});

test('v shows the whole file on the terminal', async () => {
  const { apply } = await shop({ a: 'base\n' }, { a: 'head\n' }, { a: 'draft\n' });
  const ran = await apply([], {
    env: { PAGER: 'cat' },
    terminal: {
      answers: [
        ['Conflict 1 of 1', 'v'],
        ['>>>>>>> draft', 'q'],
      ],
    },
  });
  expect([ran.exit, ran.stdout]).toEqual([6, '']);
  expect(ran.stderr).toContain('<<<<<<< head\nhead\n=======\ndraft\n>>>>>>> draft\n');
});

test('a long line and a hostile name stay within the screen, and the line for the shell names the file', async () => {
  const long = '\u001b]0;owned\u0007'.repeat(10_000);
  const name = "it's\u202etxt.exe";
  const { apply, cli, head } = await shop(
    { [name]: 'base\n' },
    { [name]: `${long}h\n` },
    { [name]: `${long}d\n` },
  );
  for (const columns of [80, 40]) {
    const ran = await apply([], { terminal: { columns, answers: [['Conflict 1 of 1', 'q']] } });
    const lines = ran.stderr.split('\n');
    const shown = lines.slice(
      lines.findIndex((line) => line.startsWith('Conflict 1 of 1')),
      -2,
    );
    expect(ran.exit).toBe(6);
    expect(shown.filter((line) => stringWidth(line) > columns)).toEqual([]);
    expect(ran.stderr.length).toBeLessThan(4_000);
    // oxlint-disable-next-line no-control-regex -- none of them may be there
    expect(ran.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(ran.stderr).toContain("it's<202E>txt.exe");
  }
  const refused = await apply();
  const line = /→ (headrace apply .* --yes)\n/.exec(refused.stderr)![1]!;
  const words = execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  expect((await cli.run(words.split('\0').slice(1, -1))).exit).toBe(0);
  expect((await head(name))?.endsWith('h\n')).toBe(true);
});

test('a command that is run again after its edit goes on, though the file is in conflict no more', async () => {
  const { apply, cli, sent, head } = await shop();
  writeFileSync(join(cli.cwd, 'mine'), 'head\n');
  const argv = ['--agent', '--resolve', 'a=head', '--resolve', 'b=mine', '--yes', '--json'];
  expect((await apply(argv)).json().apply.conflicts).toEqual(['c']);
  const again = await apply(argv);
  expect([again.exit, again.json().apply.conflicts]).toEqual([6, ['c']]);
  expect(sent('/edits')).toHaveLength(1);
  // An option that changes nothing is refused, also where nothing is in conflict.
  expect((await apply(['--resolve', 'c=head', '--yes'])).exit).toBe(0);
  expect(await head('c')).toBe('head\n');
  const other = await clean();
  const idle = await other.apply(['--resolve', 'a=draft', '--yes']);
  expect([idle.exit, idle.stderr]).toEqual([2, expect.stringContaining('"a" is not in conflict')]);
  expect(other.sent('/apply')).toEqual([]);
});

test('an apply whose answer is lost is sent once', async () => {
  const { apply, service, client, appId } = await clean();
  service.failNext('applies.create', { code: 'network', when: 'after' });
  expect((await apply(['--yes'])).exit).toBe(0);
  const { items } = await client.applies.list(appId);
  expect(items.map(({ status }: Apply) => status)).toEqual(['applied', 'applied']);
});
