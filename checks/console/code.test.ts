/** Pages that show code: differences, sources and edits by hand, in a real browser. `long/` reads more of them. */
import { beforeAll, describe, expect } from 'vitest';
import { eventually, HOSTILE, makeCode, rows } from './code.ts';
import type { Code } from './code.ts';
import { axe, visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let code: Code;
beforeAll(async () => {
  code = await makeCode();
}, 60_000);

describe('a difference', () => {
  browserTest('opens at the file and lines of the address, and writes them into it', async () => {
    const visit = await visitAt(
      rig,
      code.address(`diff?to=${code.changed}&file=src/long.ts&L=200`),
      code.site,
    );
    const { page } = visit;
    const selected = rows(page, 'src/long.ts').locator('.code-selected');
    await selected.waitFor();
    expect(await selected.innerText()).toContain('two hundred');
    await page.locator('[data-file="src/long.ts"] [data-line="201"][data-side="new"]').click();
    await page.locator('[data-line="202"][data-side="new"]').click({ modifiers: ['Shift'] });
    await page.waitForURL(/L=201-202/);
    expect(await selected.count()).toBe(2);
    // A line that is no more is found on the old side.
    await page.locator('.diff-removed [data-line="200"]').click();
    await page.waitForURL(/side=old/);
    await page.reload();
    await page.locator('.diff-removed.code-selected').waitFor();
  });

  browserTest('shows what hostile text hides, and says which files it cannot show', async () => {
    const { page } = await visitAt(rig, code.address(`diff?to=${code.changed}&file=logo.bin`), code.site);
    await rows(page, 'logo.bin').getByText('Binary file.').waitFor();
    await page.goto(code.address(`diff?to=${code.changed}&file=${encodeURIComponent(HOSTILE.path)}`));
    const marks = rows(page, HOSTILE.path).locator('.hidden-mark');
    await eventually(() => marks.allInnerTexts()).toEqual(['RLO', 'RLO', 'LRI']);
  });
});

describe('sources', () => {
  browserTest('are edited by hand: changes outlive a reload and make one new source', async () => {
    const visit = await visitAt(
      rig,
      code.address(`sources/${code.changed}?file=README.md&edit=true`),
      code.site,
    );
    const { page } = visit;
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Text of README.md').fill('# Code\n\nEdited.\n');
    await page.getByLabel('Path of a new file').fill('src/new.ts');
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByLabel('Text of src/new.ts').fill('export {};\n');
    await page.reload();
    await page.getByLabel('Message of the new source').fill('By hand');
    await page.getByRole('button', { name: 'Make a source of 2 changes' }).click();
    await page.waitForURL(/\/diff\?/);
    await page.getByText('2 files').waitFor();
    await rows(page, 'README.md').getByText('Edited.').waitFor();
    const to = new URL(page.url()).searchParams.get('to')!;
    const source = await code.site.client.sources.get(code.app.id, to);
    expect([source.message, source.parentSourceIds]).toEqual(['By hand', [code.changed]]);
    expect((await code.site.client.sources.file(code.app.id, to, { path: 'src/new.ts' })).content).toBe(
      'export {};\n',
    );
  });
});
