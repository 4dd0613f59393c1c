/** Holds the states in the guide on the review loop against the code's. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOOP_TABLE } from '../pull-requests/loop-table.ts';

const GUIDE = join(import.meta.dirname, '../../../../docs/guides/review-loop.md');

test("the guide has the code's table of states, row by row", async () => {
  const rows = (await readFile(GUIDE, 'utf8')).split('\n');
  const first = rows.indexOf('| From | When | To | Also |') + 2;
  const shown = rows.slice(first, rows.indexOf('', first));
  expect(shown).toEqual(
    LOOP_TABLE.map(({ from, when, to, also }) => `| ${from} | ${when} | ${to} | ${also} |`),
  );
});
