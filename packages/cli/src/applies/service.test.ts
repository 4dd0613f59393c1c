/** Conflicts that a real service finds, decided by keys: what is shown, and what the head has afterwards. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@headrace/client';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { sh } from '@headrace/server/threads/threads.fixture.ts';
import stringWidth from 'fast-string-width';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { ptyTest, terminal } from '../cli.pty.fixture.ts';
import { clientOf, diverged, draftFrom, headFile } from './applies.fixture.ts';
import type { Draft } from './applies.fixture.ts';

let s: TestServer;
let client: Client;
beforeAll(async () => {
  s = await startTestServer();
  client = clientOf({ url: s.base, key: s.key });
});
afterAll(async () => {
  await s?.close();
});

const NO_COLOR = { NO_COLOR: '1', PAGER: 'cat' };
const bytes = (text: string) => ({
  content: Buffer.from(`\0\u00ff${text}`, 'latin1').toString('base64'),
  encoding: 'base64' as const,
});
const lines = (changed: string) => `one\r\ntwo\r\n${changed}\r\nfour\r\nfive`;
const MOVED = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join('');

/** A conflict of each kind; names and contents that no terminal should get as they are. */
const allKinds = () =>
  diverged(
    client,
    { 'src/content.txt': lines('base'), 'gone.txt': 'a\nb\nc\n', 'old.txt': MOVED, 'end.txt': 'x' },
    {
      'src/content.txt': lines('the head \u001b[31m changed this line'),
      'gone.txt': null,
      'old.txt': null,
      'head.txt': MOVED,
      'end.txt': 'y',
      'added.txt': 'head\n',
      'image.png': bytes('head'),
      'run.sh': { content: 'echo\n', executable: true },
      'README.md': '# Head\n',
    },
    {
      'src/content.txt': lines('the draft changed it'),
      'gone.txt': 'a\nB\nc\n',
      'old.txt': null,
      'draft.txt': MOVED,
      'end.txt': 'y\n',
      'added.txt': 'draft\n',
      'image.png': bytes('the draft'),
      'run.sh': 'echo\n',
      'readme.md': '# Draft\n',
    },
  );
const PATHS = [
  'README.md',
  'added.txt',
  'draft.txt',
  'end.txt',
  'gone.txt',
  'head.txt',
  'image.png',
  'old.txt',
  'readme.md',
  'run.sh',
  'src/content.txt',
];
const COUNT = PATHS.length;

function keys(pressed: Record<string, string>, otherwise: string) {
  return PATHS.map(
    (path, at) => [`Conflict ${at + 1} of ${COUNT}  ${path}`, pressed[path] ?? otherwise] as const,
  );
}

test('each kind has a screen at 80 and at 40 columns', async () => {
  const { appId, threadId } = await allKinds();
  const screens: string[] = [];
  for (const columns of [80, 40]) {
    const ran = await testCli({ url: s.base, key: s.key }).run(['apply', threadId, '--app', appId], {
      env: NO_COLOR,
      terminal: { columns, answers: [...keys({}, 's'), ['nothing is applied', 'q']] },
    });
    expect(ran.exit).toBe(6);
    const shown = ran.stderr.split('\n').map((line) => line.trimEnd());
    const isTalk = (line: string) => /nothing is applied/i.test(line);
    expect(shown.filter((line) => stringWidth(line) > columns && !isTalk(line))).toEqual([]);
    expect(ran.stderr).not.toContain('\u001b');
    const from = shown.findIndex((line) => line.startsWith('Conflict 1 of'));
    screens.push(shown.slice(from).join('\n'));
  }
  expect(screens[0]).toMatchInlineSnapshot(`
    "Conflict 1 of 11  README.md
    Only the head has it; its name collides with one of the other side.
      base   no file yet
      head   7 B
      draft  no file
    head
      # Head

    h head   d draft   s skip   a agent   v view   q quit   ? help
    > skip

    Conflict 2 of 11  added.txt
    Both added it, with different contents.
      base   no file yet
      head   5 B
      draft  6 B
    line 1
    base                     │ head                     │ draft
                             │ head                     │ draft

    h head   d draft   e edit   b both   s skip   a agent   v view   u undo   q quit
    ? help
    > skip

    Conflict 3 of 11  draft.txt
    It was moved. Each of its paths is decided on its own.
      base   no file yet
      head   no file
      draft  87 B
    draft
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      …

    h head   d draft   e edit   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 4 of 11  end.txt
    Both changed the same lines.
      base   1 B
      head   1 B
      draft  2 B
    line 1
    base  | x
          | \\ No newline at end of file
    head  | y
          | \\ No newline at end of file
    draft | y

    h head   d draft   e edit   b both   s skip   a agent   v view   u undo   q quit
    ? help
    > skip

    Conflict 5 of 11  gone.txt
    The head deleted it, and the draft changed it.
      base   6 B
      head   no file
      draft  6 B
    line 2
      a
    base                                   │ draft
    b                                      │ B
      c

    h head   d draft   e edit   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 6 of 11  head.txt
    It was moved. Each of its paths is decided on its own.
      base   no file yet
      head   87 B
      draft  no file
    head
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      …

    h head   d draft   e edit   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 7 of 11  image.png
    Both added it, and it is not text.
      base   no file yet
      head   6 B, not text
      draft  11 B, not text

    h head   d draft   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 8 of 11  old.txt
    It was moved. Each of its paths is decided on its own.
      base   87 B
      head   no file
      draft  no file

    h head   d draft   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 9 of 11  readme.md
    Only the draft has it; its name collides with one of the other side.
      base   no file yet
      head   no file
      draft  8 B
    draft
      # Draft

    h head   d draft   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 10 of 11  run.sh
    Both have the same contents, but only one is executable.
      base   no file yet
      head   5 B, executable
      draft  5 B

    h head   d draft   s skip   a agent   v view   u undo   q quit   ? help
    > skip

    Conflict 11 of 11  src/content.txt
    Both changed the same lines.
      base   26 B
      head   54 B
      draft  42 B
    line 3
      one
      two
    base  | base
    head  | the head ␛[31m changed this line
    draft | the draft changed it
      four
      five

    h head   d draft   e edit   b both   s skip   a agent   v view   u undo   q quit
    ? help
    > skip

    11 conflicts:
      open   README.md
      open   added.txt
      open   draft.txt
      open   end.txt
      open   gone.txt
      open   head.txt
      open   image.png
      open   old.txt
      open   readme.md
      open   run.sh
      open   src/content.txt
    11 conflicts open, so nothing is applied.
    q quit   u undo
    > quit
    Nothing is applied.
    "
  `);
  expect(screens[1]).toMatchInlineSnapshot(`
    "Conflict 1 of 11  README.md
    Only the head has it; its name collides
    with one of the other side.
      base   no file yet
      head   7 B
      draft  no file
    head
      # Head

    h head   d draft   s skip   a agent
    v view   q quit   ? help
    > skip

    Conflict 2 of 11  added.txt
    Both added it, with different contents.
      base   no file yet
      head   5 B
      draft  6 B
    line 1
    base  | (nothing)
    head  | head
    draft | draft

    h head   d draft   e edit   b both
    s skip   a agent   v view   u undo
    q quit   ? help
    > skip

    Conflict 3 of 11  draft.txt
    It was moved. Each of its paths is
    decided on its own.
      base   no file yet
      head   no file
      draft  87 B
    draft
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      …

    h head   d draft   e edit   s skip
    a agent   v view   u undo   q quit
    ? help
    > skip

    Conflict 4 of 11  end.txt
    Both changed the same lines.
      base   1 B
      head   1 B
      draft  2 B
    line 1
    base  | x
          | \\ No newline at end of file
    head  | y
          | \\ No newline at end of file
    draft | y

    h head   d draft   e edit   b both
    s skip   a agent   v view   u undo
    q quit   ? help
    > skip

    Conflict 5 of 11  gone.txt
    The head deleted it, and the draft
    changed it.
      base   6 B
      head   no file
      draft  6 B
    line 2
      a
    base               │ draft
    b                  │ B
      c

    h head   d draft   e edit   s skip
    a agent   v view   u undo   q quit
    ? help
    > skip

    Conflict 6 of 11  head.txt
    It was moved. Each of its paths is
    decided on its own.
      base   no file yet
      head   87 B
      draft  no file
    head
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      …

    h head   d draft   e edit   s skip
    a agent   v view   u undo   q quit
    ? help
    > skip

    Conflict 7 of 11  image.png
    Both added it, and it is not text.
      base   no file yet
      head   6 B, not text
      draft  11 B, not text

    h head   d draft   s skip   a agent
    v view   u undo   q quit   ? help
    > skip

    Conflict 8 of 11  old.txt
    It was moved. Each of its paths is
    decided on its own.
      base   87 B
      head   no file
      draft  no file

    h head   d draft   s skip   a agent
    v view   u undo   q quit   ? help
    > skip

    Conflict 9 of 11  readme.md
    Only the draft has it; its name collides
    with one of the other side.
      base   no file yet
      head   no file
      draft  8 B
    draft
      # Draft

    h head   d draft   s skip   a agent
    v view   u undo   q quit   ? help
    > skip

    Conflict 10 of 11  run.sh
    Both have the same contents, but only
    one is executable.
      base   no file yet
      head   5 B, executable
      draft  5 B

    h head   d draft   s skip   a agent
    v view   u undo   q quit   ? help
    > skip

    Conflict 11 of 11  src/content.txt
    Both changed the same lines.
      base   26 B
      head   54 B
      draft  42 B
    line 3
      one
      two
    base  | base
    head  | the head ␛[31m changed this line
    draft | the draft changed it
      four
      five

    h head   d draft   e edit   b both
    s skip   a agent   v view   u undo
    q quit   ? help
    > skip

    11 conflicts:
      open   README.md
      open   added.txt
      open   draft.txt
      open   end.txt
      open   gone.txt
      open   head.txt
      open   image.png
      open   old.txt
      open   readme.md
      open   run.sh
      open   src/content.txt
    11 conflicts open, so nothing is applied.
    q quit   u undo
    > quit
    Nothing is applied.
    "
  `);
});

test('what is decided is what the head has; a head that moves meanwhile asks about one file again', async () => {
  const draft = await allKinds();
  const { appId, threadId } = draft;
  const { sourceId: head } = await client.head.get(appId);
  let isMoved = false;
  const service = {
    url: s.base,
    key: s.key,
    fetch: (async (url: string, init?: RequestInit) => {
      if (!isMoved && url.endsWith(`${threadId}/apply`)) {
        isMoved = true;
        const other = await draftFrom(client, appId, head, { 'end.txt': 'newer\n' });
        await client.applies.create(appId, other.threadId, { expectedSourceId: other.sourceId }).done();
      }
      return fetch(url, init);
    }) as typeof fetch,
  };
  const cli = testCli(service);
  const editor = join(cli.home, 'editor');
  writeFileSync(editor, `#!/bin/sh\nsed -i '/^<<<<<<<\\|^=======\\|^>>>>>>>/d' "$1"\n`);
  chmodSync(editor, 0o700);
  const ran = await cli.run(['apply', threadId, '--app', appId], {
    env: { ...NO_COLOR, EDITOR: editor },
    terminal: {
      answers: [
        ...keys(
          { 'src/content.txt': 'e', 'added.txt': 'b', 'gone.txt': 'd', 'image.png': 'd', 'draft.txt': 'd' },
          'h',
        ),
        ['yes, apply', 'y'],
        [`of ${COUNT}  end.txt`, 'h'],
        ['yes, apply', 'y'],
      ],
    },
  });
  expect([ran.exit, ran.stderr]).toEqual([0, expect.stringContaining('The head has moved since.')]);
  const asked = [...ran.stderr.matchAll(/Conflict \d+ of \d+  (\S+)/g)].map(([, path]) => path);
  expect(asked).toEqual([...PATHS, 'end.txt']);
  const has = (path: string) => headFile(client, appId, path);
  expect(await has('src/content.txt')).toBe(
    'one\r\ntwo\r\nthe head \u001b[31m changed this line\r\nthe draft changed it\r\nfour\r\nfive',
  );
  expect(await has('added.txt')).toBe('head\ndraft\n');
  expect(await has('end.txt')).toBe('newer\n');
  expect(await has('gone.txt')).toBe('a\nB\nc\n');
  expect(await has('image.png')).toBe(bytes('the draft').content);
  expect([await has('README.md'), await has('readme.md')]).toEqual(['# Head\n', null]);
  expect([await has('head.txt'), await has('draft.txt'), await has('old.txt')]).toEqual([MOVED, MOVED, null]);
});

const conflict = () =>
  diverged(
    client,
    { a: 'base\n', b: 'base\n' },
    { a: 'head\n', b: 'head\n' },
    { a: 'draft\n', b: 'draft\n' },
  );

test('an agent repairs what is left to it, and keeps the decision for the head', async () => {
  const { appId, threadId } = await conflict();
  const report = JSON.stringify({ status: 'resolved', summary: 'Both.', checks: [] });
  const script = `echo repaired > b\ncat > .hoplite/repair/report.json <<'END'\n${report}\nEND`;
  await client.apps.update(appId, { metadata: { 'headrace.repairScript': sh(script) } });
  const ran = await testCli({ url: s.base, key: s.key }).run(['apply', threadId, '--app', appId], {
    env: NO_COLOR,
    terminal: {
      answers: [
        ['Conflict 1 of 2', 'h'],
        ['Conflict 2 of 2', 'a'],
        ['yes, apply', 'y'],
      ],
    },
  });
  expect([ran.exit, ran.stdout]).toEqual([
    0,
    expect.stringMatching(/^applied (.*\n)+repair 1  run_\w+  Both\.\n$/),
  ]);
  expect([await headFile(client, appId, 'a'), await headFile(client, appId, 'b')]).toEqual([
    'head\n',
    'repaired\n',
  ]);
});

const onTerminal = ({ appId, threadId }: Draft, env: Record<string, string>, home?: string) =>
  terminal(['apply', threadId], {
    service: { url: s.base, key: s.key },
    env: { HEADRACE_APP: appId, ...env },
    rows: 40,
    ...(home !== undefined && { home }),
  });

ptyTest('on a pseudo-terminal: leave by Ctrl-C, go on, edit in a sane terminal, and apply', async () => {
  const draft = await conflict();
  const left = onTerminal(draft, {});
  await left.waitFor('Conflict 1 of 2');
  left.type('h');
  await left.waitFor('Conflict 2 of 2');
  left.press('ctrl-c');
  expect(await left.exit).toBe(130);
  expect(left.screen().join('\n')).toContain('Nothing is applied. The decisions are kept');

  // The editor reads a line, as editors do, from a terminal that echoes and waits for whole lines.
  const cli = testCli();
  const editor = join(cli.home, 'editor');
  const seen = join(cli.home, 'seen');
  writeFileSync(
    editor,
    `#!/bin/sh\nstty -a > '${seen}'\nprintf 'Your text: '\nread -r text\nprintf '%s\\r\\nno end' "$text" > "$1"\n`,
  );
  chmodSync(editor, 0o700);
  const shell = onTerminal(draft, { EDITOR: editor }, cli.home);
  await shell.waitFor('Conflict 1 of 2');
  // The second key is typed ahead.
  shell.type('de');
  await shell.waitFor('Your text:');
  shell.type('mine\r');
  await shell.waitFor('yes, apply');
  shell.type('u');
  await shell.waitFor(/(Conflict 2 of 2[^]*){2}/);
  shell.type('?');
  await shell.waitFor('both   at each place the head’s lines, then the draft’s');
  shell.type('e');
  await shell.waitFor(/(Your text: [^]*){2}/);
  shell.type('other\r');
  await shell.waitFor(/(yes, apply[^]*){2}/);
  shell.type('y');
  expect(await shell.exit).toBe(0);
  expect(readFileSync(seen, 'utf8')).toMatch(/(?<!-)\bicanon\b[^]*(?<!-)\becho\b/);
  expect(await headFile(client, draft.appId, 'a')).toBe('draft\n');
  expect(await headFile(client, draft.appId, 'b')).toBe('other\r\nno end');
});
