/** Runs the guide's example and its commands unchanged against a service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { draftsOf, P } from './applies.fixture.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const EXAMPLE = join(ROOT, 'examples/applies.mjs');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());

/** Runs a program, which has to succeed; returns what it printed. */
async function said(
  command: string,
  args: string[],
  env: Record<string, string>,
  input = '',
): Promise<string> {
  const child = spawn(command, args, {
    stdio: 'pipe',
    env: { PATH: process.env.PATH, ...env },
    timeout: 60_000,
  });
  let text = '';
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  expect(code, text).toBe(0);
  return text;
}

const blocksOf = async (language: string) =>
  [
    ...(await readFile(join(ROOT, 'docs/guides/applies.md'), 'utf8')).matchAll(
      new RegExp(`^\`\`\`\`?${language}\\n([\\s\\S]*?)^\`\`\`\`?$`, 'gm'),
    ),
  ].map(([, code]) => code!);

test('the example shows conflicts, a stale decision and a repair', async () => {
  const text = await said(process.execPath, [EXAMPLE], {
    HEADRACE_URL: server.base,
    HEADRACE_KEY: server.key,
  });
  expect(text.replaceAll(/\b(prj|sa)_[0-9a-z]{26}/g, '$1_…')).toBe(`app prj_…
two drafts change the price of coffee
  Dearer applied
what would become of the other one
  conflicted; changes menu.txt, prices.txt
  prices.txt: content
    line 2
      base  | coffee 3.00
      head  | coffee 3.20
      draft | coffee 3.50
  Dearest conflicted prices.txt
somebody takes their time to decide, and another draft is applied meanwhile
  Hours applied
  stale_head: the head has moved, so this decision is void; look again
  Dearest applied
  the head has "tea 2.00\\ncoffee 3.50\\n"
two drafts add a topping; an agent puts them together
  Milk applied
  a repair: undeclared_changes: Not in conflict, but changed without a word in the report: CHANGELOG.md. Put it back, or name it in the summary or a check.
  a repair: resolved: Kept the toppings of both sides. CHANGELOG.md tells of it.
  Cinnamon applied
  the head has "cinnamon\\ncocoa\\noat milk\\n"
whose work is in the head
  1 the first source
  2 Dearer, by sa_…
  3 Hours, by sa_…
  4 Dearest, by sa_…
  5 Milk, by sa_…
  6 Cinnamon, by sa_…
`);
});

test('the guide shows the example’s own code and words', async () => {
  const [example, output] = await Promise.all([
    readFile(EXAMPLE, 'utf8'),
    readFile(import.meta.filename, 'utf8'),
  ]);
  const [code, words] = await Promise.all([blocksOf('js'), blocksOf('text')]);
  expect([code.length, words.length]).toEqual([3, 2]);
  for (const block of code) expect(example).toContain(block);
  for (const block of words) expect(output).toContain(block);
});

/** The guide uses the programs that the README asks to install. The service needs none of them. */
const missing = ['curl', 'jq', 'uuidgen'].filter((command) => spawnSync(command, ['--version']).error);

test.skipIf(missing.length > 0)(
  `the guide’s commands preview and apply${missing.length > 0 ? ` (install ${missing.join(', ')} to run this)` : ''}`,
  async () => {
    const d = draftsOf(server);
    const draft = await d.diverged({ a: 'base\n' }, { a: 'head\n' }, { a: 'draft\n' });
    const commands = (await blocksOf('sh')).filter((block) => block.includes('curl'));
    expect(commands.length).toBe(1);
    const text = await said(
      'bash',
      ['-euo', 'pipefail'],
      {
        API: server.base + P,
        KEY: server.key,
        APP: draft.appId,
        THREAD: draft.threadId,
        DRAFT: draft.sourceId,
      },
      commands.join('\n'),
    );
    const [shown, apply] = text.split(/^(?=\{)/m).map((part) => JSON.parse(part));
    expect(shown).toMatchObject({ status: 'conflicted', conflicts: [{ path: 'a', kind: 'content' }] });
    expect(apply).toEqual({ status: 'conflicted', conflicts: ['a'], error: null, resultSourceId: null });
  },
);
