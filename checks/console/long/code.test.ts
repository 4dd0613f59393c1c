/** More of the pages that show code. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { eventually, makeCode, rows } from '../code.ts';
import type { Code } from '../code.ts';
import { atRest, axe, tooWide, visitAt } from '../page.ts';
import { browserTest, useBrowser } from '../rig.ts';

const rig = useBrowser();
let code: Code;
beforeAll(async () => {
  code = await makeCode();
}, 60_000);

const head = (page: Page) => page.locator('.diff-head.is-current .diff-path').innerText();
/** What the line says that the keys are at, as a reader hears it. */
const active = (page: Page) =>
  page.evaluate<string>(
    `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? ''`,
  );

describe('a difference', () => {
  browserTest('of a source is to its parent; it is clean to axe and fits a phone', async () => {
    const visit = await visitAt(rig, code.address(`diff?to=${code.changed}`), code.site);
    const { page } = visit;
    await page.getByText('45 files').waitFor();
    for (const view of ['', '&view=split']) {
      await page.goto(code.address(`diff?to=${code.changed}&file=src/zebra.ts${view}`));
      await rows(page, 'src/zebra.ts').locator('.diff-word').first().waitFor();
      await atRest(visit);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axe(page), `${view} ${colorScheme}`).toEqual([]);
      }
    }
    for (const width of [360, 320]) {
      await page.setViewportSize({ width, height: 640 });
      await atRest(visit);
      expect(await tooWide(page), `${width} px`).toEqual([]);
    }
  });

  browserTest('has its lines selected by the keys, within one side, over files', async () => {
    const visit = await visitAt(
      rig,
      code.address(`diff?to=${code.changed}&file=src/long.ts&L=200`),
      code.site,
    );
    const { page } = visit;
    const table = page.getByRole('grid', { name: 'Changed lines' });
    await rows(page, 'src/long.ts').locator('.code-selected').waitFor();
    // The keys go on from the line of the link.
    await table.focus();
    await table.press('Shift+ArrowDown');
    await page.waitForURL(/L=200-201$/);
    await page.locator('[data-file="src/long.ts"] [data-line="199"][data-side="new"]').click();
    await table.focus();
    for (const key of ['ArrowDown', 'ArrowDown']) await table.press(key);
    expect(await active(page)).toContain('two hundred');
    await table.press('Enter');
    await page.waitForURL(/L=200$/);
    await table.press('Shift+ArrowDown');
    await table.press('Shift+ArrowDown');
    await page.waitForURL(/L=200-202$/);
    // Up over the removed line of the other side, and past where it began.
    for (let i = 0; i < 3; i++) await table.press('Shift+ArrowUp');
    await page.waitForURL(/L=200$/);
    await table.press('Shift+ArrowUp');
    await page.waitForURL(/L=199-200$/);
    await table.press('ArrowDown');
    await table.press('Enter');
    await page.waitForURL(/L=200&side=old$/);
    // Lines of the hunk, then the head of the next file, and its lines.
    for (let i = 0; i < 5; i++) await table.press('ArrowDown');
    expect(await active(page)).toContain('src/spaces.ts');
    await table.press('ArrowDown');
    expect(await active(page)).toContain('a();');
    await table.press('ArrowUp');
    await table.press('Enter');
    await page.getByRole('button', { name: 'Unfold src/spaces.ts' }).waitFor();
    expect(await active(page)).toContain('src/spaces.ts');
    await table.press('Enter');
    await page.getByRole('button', { name: 'Fold src/spaces.ts', exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
  });

  browserTest('is read with the keys: next file, viewed, find', async () => {
    const visit = await visitAt(rig, code.address(`diff?to=${code.changed}&file=src/long.ts`), code.site);
    const { page } = visit;
    await eventually(() => head(page)).toBe('src/long.ts');
    await page.keyboard.press('j');
    await eventually(() => head(page)).toBe('src/spaces.ts');
    await page.keyboard.press('k');
    await eventually(() => head(page)).toBe('src/long.ts');
    await page.keyboard.press('v');
    const box = page.getByRole('checkbox', { name: 'Viewed src/long.ts' });
    await eventually(() => box.isChecked()).toBe(true);
    expect(await rows(page, 'src/long.ts').locator('.code-row').count()).toBe(0);
    await page.reload();
    await eventually(() => box.isChecked()).toBe(true);
    await atRest(visit);
    await page.keyboard.press('/');
    await page.keyboard.type('STRIPES');
    await page.keyboard.press('Enter');
    await page.locator('.code-found').first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await eventually(() => head(page)).not.toBe('src/long.ts');
  });

  browserTest('without white space', async () => {
    const { page } = await visitAt(
      rig,
      code.address(`diff?to=${code.changed}&file=src/spaces.ts`),
      code.site,
    );
    await rows(page, 'src/spaces.ts').locator('.diff-added').waitFor();
    await page.getByRole('button', { name: 'Ignore space' }).click();
    await rows(page, 'src/spaces.ts').getByText('Only white space changed.').waitFor();
  });

  browserTest(
    'of 10,000 files: all are listed, few are in the page, the last one is read when it is shown',
    async () => {
      const many = await code.change(
        Array.from({ length: 9990 }, (_, file) => ({
          path: `many/part-${file % 100}/file-${file}.txt`,
          content: `line\n`.repeat(20) + file,
        })),
      );
      const visit = await visitAt(rig, code.address(`diff?to=${many}`), code.site);
      const { page } = visit;
      await page.getByText('9,990 files').waitFor();
      const nodes = () => page.evaluate<number>('document.querySelectorAll("*").length');
      expect(await nodes()).toBeLessThan(1500);
      await page.getByRole('tree').press('End');
      await page.getByRole('tree').press('Enter');
      await rows(page, 'many/part-99/file-999.txt').locator('.diff-added').first().waitFor();
      expect(await nodes()).toBeLessThan(1500);
    },
  );
});

describe('sources', () => {
  browserTest('two are compared, the older one as the base', async () => {
    const { page } = await visitAt(rig, code.address('sources'), code.site);
    expect(await axe(page)).toEqual([]);
    await page
      .getByRole('row', { name: /A change/ })
      .first()
      .getByRole('button', { name: /^Compare/ })
      .click();
    await page
      .getByRole('row', { name: /The first version/ })
      .getByRole('link', { name: /^Compare with/ })
      .click();
    await page.waitForURL(new RegExp(`from=${code.app.sourceId}&to=`));
  });

  browserTest('lines of a file are selected by the keys, and their link is copied', async () => {
    const visit = await visitAt(rig, code.address(`sources/${code.changed}?file=src/long.ts`), code.site);
    const { page } = visit;
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const file = page.getByRole('grid', { name: 'src/long.ts' });
    await file.focus();
    for (let i = 0; i < 3; i++) await file.press('ArrowDown');
    expect(await active(page)).toContain('line3 ');
    await file.press('Enter');
    await page.waitForURL(/L=3$/);
    for (let i = 0; i < 40; i++) await file.press('Shift+ArrowDown');
    await page.waitForURL(/L=3-43$/);
    await page.locator('[data-line="43"]').waitFor();
    expect(await active(page)).toContain('line43 ');
    await file.press('PageDown');
    expect(await page.getByRole('row', { selected: true }).count()).toBeGreaterThan(0);
    await file.press('y');
    await page.getByText('The link is copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url());
    expect(await axe(page)).toEqual([]);
    await file.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('In code: select more lines').waitFor();
  });

  browserTest('of a held key, none is thrown back; Enter leaves the page where it is', async () => {
    const visit = await visitAt(rig, code.address(`sources/${code.changed}?file=src/long.ts`), code.site);
    const { page } = visit;
    const file = page.getByRole('grid', { name: 'src/long.ts' });
    await file.focus();
    await file.press('ArrowDown');
    // All of them before the first scroll is heard of.
    const lines = await page.evaluate<number>(`(async () => {
      const grid = document.activeElement;
      for (let i = 0; i < 3; i++) {
        grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'PageDown', bubbles: true, cancelable: true }));
        for (let turn = 0; turn < 20; turn++) await null;
      }
      return 3 * (Math.floor(grid.clientHeight / 20) - 2);
    })()`);
    await expect.poll(() => active(page)).toContain(`line${1 + lines} `);
    const top = () => page.evaluate<number>('document.activeElement.scrollTop');
    const before = await top();
    await file.press('Enter');
    await page.waitForURL(/L=\d+$/);
    await page.locator('.code-selected').waitFor();
    expect(await top()).toBe(before);
  });

  browserTest('a file is read, searched and linked to', async () => {
    const visit = await visitAt(
      rig,
      code.address(`sources/${code.changed}?file=src/long.ts&L=250-251`),
      code.site,
    );
    const { page } = visit;
    await eventually(() => page.locator('.code-selected').count()).toBe(2);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('line77 ');
    await page.keyboard.press('Enter');
    await page.locator('.code-found').waitFor();
    await page.locator('[data-line="77"]').click();
    await page.waitForURL(/L=77/);
    await page.setViewportSize({ width: 320, height: 640 });
    await atRest(visit);
    expect(await tooWide(page)).toEqual([]);
  });
});
