import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testIo } from '../core/io.fixture.ts';
import { openInBrowser } from './browser.ts';

/** A program that writes its arguments to a file, one a line. */
function newProgram(exitCode = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-browser-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [program, seen] = [join(folder, 'browser'), join(folder, 'seen')];
  const script = `#!/bin/sh\nfor one; do printf '%s\\n' "$one"; done > '${seen}'\nexit ${exitCode}\n`;
  writeFileSync(program, script, { mode: 0o755 });
  return { folder, program, seen: () => readFileSync(seen, 'utf8').split('\n').slice(0, -1) };
}

const ADDRESS = 'http://x.localhost:4400/?a=$(touch%20hacked)&b=`id`;c';
const without = (env: Record<string, string>) => testIo({ PATH: '/nowhere', ...env });

test('each of $BROWSER is tried in turn, with the address as it is and without a shell', async () => {
  const [first, second] = [newProgram(1), newProgram()];
  const BROWSER = `/no/such/program:${first.program} --new:${second.program} --app=%s -x`;
  expect(await openInBrowser(without({ BROWSER }), ADDRESS)).toBe(true);
  expect([first.seen(), second.seen()]).toEqual([
    ['--new', ADDRESS],
    [`--app=${ADDRESS}`, '-x'],
  ]);
  expect(existsSync(join(second.folder, 'hacked'))).toBe(false);
});

test('nothing is started for an address that is not of the web; without a browser it is said', async () => {
  const { program, folder } = newProgram();
  for (const address of ['file:///etc/passwd', 'javascript:alert(1)', `${program} x:y`])
    await expect(openInBrowser(without({ BROWSER: program }), address)).rejects.toThrow();
  expect(existsSync(join(folder, 'seen'))).toBe(false);
  expect(await openInBrowser(without({ BROWSER: newProgram(1).program }), ADDRESS)).toBe(false);
});
