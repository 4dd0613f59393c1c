/** Holds the states in the guide on the review loop against the code's. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const GUIDE = join(import.meta.dirname, '../../../../docs/guides/review-loop.md');
const STATES = join(import.meta.dirname, '../pull-requests/loop-state.ts');

test('the guide has the table of states at the head of the code', async () => {
  const [, head] = /^\/\*\*\n([\s\S]*?)^ \*\/$/m.exec(await readFile(STATES, 'utf8'))!;
  const [, shown] = /^```text\n([\s\S]*?)^```$/m.exec(await readFile(GUIDE, 'utf8'))!;
  expect(shown).toBe(head!.replaceAll(/^ \* ?/gm, ''));
});
