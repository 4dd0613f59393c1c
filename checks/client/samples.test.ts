/** Runs the samples of the guide and the package's README unchanged, and compares what they print. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommands } from '../../packages/server/src/guide.fixture.ts';
import { startTestServer } from '../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../packages/server/src/service.fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_MS = 120_000;

let s: TestServer;
let scratch: string;
beforeAll(async () => {
  s = await startTestServer();
  scratch = mkdtempSync(join(tmpdir(), 'headrace-samples-'));
  mkdirSync(join(scratch, 'node_modules/@headrace'), { recursive: true });
  symlinkSync(join(ROOT, 'packages/client'), join(scratch, 'node_modules/@headrace/client'));
});
afterAll(async () => {
  await s?.close();
  if (scratch) rmSync(scratch, { recursive: true, force: true });
});

interface Samples {
  commands: string;
  program: string;
  /** The blocks of text, each after the block that prints it. */
  output: string;
}

/** Throws for code that would not run. */
function samplesOf(document: string): Samples {
  const blocks = [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)];
  const idle = blocks.find(([, info]) => /^(?:js|ts)\b/.test(info!) && info !== 'js test');
  if (idle) throw new Error(`A sample of ${document} is not marked as a test:\n${idle[0]}`);
  const of = (info: string) =>
    blocks
      .filter(([, name]) => name === info)
      .map(([, , code]) => code)
      .join('');
  return { commands: of('sh test'), program: of('js test'), output: of('text') };
}

for (const document of ['docs/guides/integrate.md', 'packages/client/README.md'])
  test(
    `the samples of ${document} print what it says`,
    async () => {
      const { commands, program, output } = samplesOf(document);
      const folder = mkdtempSync(join(scratch, 'work-'));
      writeFileSync(join(folder, 'guide.mjs'), program);
      const text = await runCommands(
        `${commands}\n"$NODE" guide.mjs 2> errors.txt || { cat errors.txt; exit 1; }`,
        { NODE: process.execPath, HEADRACE_URL: s.base, HEADRACE_KEY: s.key },
        folder,
        LIMIT_MS,
      );
      expect(text).toBe(output);
    },
    LIMIT_MS,
  );
