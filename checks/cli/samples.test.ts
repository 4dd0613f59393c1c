/**
 * Runs the commands of the command line's documents unchanged, and compares what they print. In a block of text, `…`
 * stands for what differs each time.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hint, missing, runCommands } from '../../packages/server/src/guide.fixture.ts';
import { startTestServer } from '../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../packages/server/src/service.fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_MS = 120_000;

let s: TestServer;
let scratch: string;
beforeAll(async () => {
  s = await startTestServer();
  scratch = mkdtempSync(join(tmpdir(), 'headrace-cli-samples-'));
  writeFileSync(
    join(scratch, 'headrace'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'packages/cli/src/main.ts')}" "$@"\n`,
  );
  chmodSync(join(scratch, 'headrace'), 0o755);
});
afterAll(async () => {
  await s?.close();
  if (scratch) rmSync(scratch, { recursive: true, force: true });
});

interface Step {
  commands: string;
  /** Null: not compared. */
  output: string | null;
}

/** The blocks of commands, each with the block of text that follows it before the next one. */
function stepsOf(document: string): Step[] {
  const steps: Step[] = [];
  for (const [, , info, text] of readFileSync(join(ROOT, document), 'utf8').matchAll(
    /^(`{3,4})(.*)\n([\s\S]*?)^\1$/gm,
  )) {
    if (info === 'sh test') steps.push({ commands: text!, output: null });
    else if (info === 'text' && steps.length > 0) steps.at(-1)!.output ??= text!;
  }
  return steps;
}

/** A line of the expected text as an expression. */
const patternOf = (line: string) =>
  new RegExp(
    `^${line
      .split('…')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
    'u',
  );

function expectLines(step: Step, printed: string): void {
  if (step.output === null) return;
  const expected = step.output.trimEnd().split('\n');
  const lines = printed.trimEnd().split('\n');
  const isSame =
    lines.length === expected.length && expected.every((line, at) => patternOf(line).test(lines[at]!));
  // Shows both texts if they differ.
  if (!isSame) expect(printed, step.commands).toBe(step.output);
}

for (const document of ['README.md', 'docs/guides/cli.md'])
  test.skipIf(missing.length > 0)(
    `the samples of ${document} print what it says${hint}`,
    async () => {
      const home = mkdtempSync(join(scratch, 'home-'));
      const folder = join(home, 'work');
      mkdirSync(folder);
      const steps = stepsOf(document);
      expect(steps.length).toBeGreaterThan(0);
      const MARK = '----- next step -----';
      const script = steps.map(({ commands }) => commands).join(`\necho '${MARK}'\n`);
      const env = {
        PATH: `${scratch}:${process.env.PATH}`,
        HOME: home,
      };
      const replaced = script
        .replaceAll('http://127.0.0.1:4400', s.base)
        .replaceAll('hrk_…', s.key)
        // The function that the README defines works only in the checkout.
        .replace(/^headrace\(\) .*$/m, '');
      const text = await runCommands(`exec 2>&1\n${replaced}`, env, folder, LIMIT_MS);
      const printed = text.replaceAll(s.base, 'http://127.0.0.1:4400').split(`${MARK}\n`);
      expect(printed).toHaveLength(steps.length);
      for (const [at, step] of steps.entries()) expectLines(step, printed[at]!);
    },
    LIMIT_MS,
  );
