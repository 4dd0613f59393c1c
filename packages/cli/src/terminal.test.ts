/** The command line on a real pseudo-terminal. */
import { expect } from 'vitest';
import { ptyTest, terminal } from './cli.pty.fixture.ts';

ptyTest('help of a command fits a terminal, in colour', async () => {
  const shell = terminal(['apps', 'create', '--help'], { rows: 40 });
  expect(await shell.exit).toBe(0);
  expect(shell.screen()).toMatchInlineSnapshot(`
    [
      "Create an app.",
      "",
      "Usage",
      "  headrace apps create NAME [options]",
      "",
      "Arguments",
      "  NAME  the name",
      "",
      "Options",
      "  --external-id ID  your own id of it; no other app may have it",
      "",
      "Options of every command",
      "  --url URL       the address of the service",
      "  --context NAME  the sign-in to use, of \`headrace context list\`",
      "  --json          print one JSON document, in the shape of the API",
      "  --jsonl         print a list or a stream as JSON lines",
      "  -q, --quiet     print only data and errors",
      "  -y, --yes       answer yes to questions",
      "  --no-color      print no colours; NO_COLOR does the same",
      "  --fresh         do not continue an interrupted run of the same command",
      "  -h, --help      print this help",
      "",
      "Example",
      "  headrace apps create Shop --external-id u_42",
    ]
  `);
  expect(shell.sent()).toContain('\x1b[1mUsage');
});

ptyTest('help has no escape codes with NO_COLOR, or --no-color', async () => {
  const commands = [
    terminal(['--help'], { env: { NO_COLOR: '1' } }),
    terminal(['apps', 'create', '--help', '--no-color']),
  ];
  for (const shell of commands) {
    expect(await shell.exit).toBe(0);
    expect(shell.sent()).not.toContain('\x1b');
  }
});

ptyTest('a question is asked on a terminal, and Ctrl-C ends the command', async () => {
  const shell = terminal(['login', 'http://127.0.0.1:1'], { columns: 40 });
  await shell.waitFor(/key/i);
  shell.press('ctrl-c');
  expect(await shell.exit).toBe(130);
  expect(shell.screen().at(-1)).toBe('headrace: Interrupted.');
});

ptyTest('with --json nothing is asked, and no escape codes are printed, on a terminal either', async () => {
  const shell = terminal(['login', 'http://127.0.0.1:1', '--json']);
  expect(await shell.exit).toBe(2);
  expect(JSON.parse(shell.sent())).toMatchObject({ ok: false, error: { code: 'usage' } });
  expect(shell.sent()).not.toContain('\x1b');
});
