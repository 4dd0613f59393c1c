/** Pages that show code: differences, sources and edits by hand, in a real browser. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { makeApp, startGround } from './ground.ts';
import type { App, Ground } from './ground.ts';
import { atRest, axe, tooWide, visitAt } from './page.ts';
import { browserTest, useBrowser } from './rig.ts';

const rig = useBrowser();
let ground: Ground;
let app: App;
/** Its parent is the app's first source. */
let changed: string;
let options: { base: string; state: Ground['state'] };

const LINES = Array.from({ length: 300 }, (_, line) => `export const line${line + 1} = ${line + 1};\n`);
/** A name and a line that pretend to be something else. */
const HOSTILE = { path: 'src/gpj.\u202ets', content: 'if (isAdmin) { /*\u202e } \u2066 */ deny();\n' };

beforeAll(async () => {
  ground = await startGround();
  options = { base: ground.base, state: ground.state };
  app = await makeApp(ground.client, 'Code', [
    { path: 'README.md', content: '# Code\n' },
    { path: 'src/long.ts', content: LINES.join('') },
    { path: 'src/spaces.ts', content: 'a();\nb();\n' },
    { path: 'src/zebra.ts', content: 'const stripes = 1;\n' },
  ]);
  changed = await change(app.sourceId, [
    { path: 'src/long.ts', content: LINES.with(199, 'export const line200 = "two hundred";\n').join('') },
    { path: 'src/spaces.ts', content: 'a();\n  b();\n' },
    { path: 'src/zebra.ts', content: 'const stripes = 2;\n' },
    { path: 'logo.bin', content: 'AAEC/w==', encoding: 'base64' },
    HOSTILE,
    ...Array.from({ length: 40 }, (_, file) => ({ path: `more/file-${file}.md`, content: `Text ${file}\n` })),
  ]);
}, 90_000);
afterAll(() => ground?.stop());

type Change = { path: string; content: string; encoding?: 'base64' };

async function change(baseSourceId: string, changes: Change[]): Promise<string> {
  const { source } = await ground.client.sources.import(app.id, {
    baseSourceId,
    changes,
    message: 'A change',
  });
  return source.id;
}

const address = (rest: string) => `/console/apps/${app.id}/${rest}`;
/** Waits as long as the browser's own waits. */
const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 15_000 });
const rows = (page: Page, path: string) => page.locator(`[data-file="${path}"]`);
/** What the line says that the keys are at, as a reader hears it. */
const active = (page: Page) =>
  page.evaluate<string>(
    `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? ''`,
  );
const head = (page: Page) => page.locator('.diff-head.is-current .diff-path').innerText();

describe('a difference', () => {
  browserTest('of a source is to its parent; it is clean to axe and fits a phone', async () => {
    const visit = await visitAt(rig, address(`diff?to=${changed}`), options);
    const { page } = visit;
    await page.getByText('45 files').waitFor();
    for (const view of ['', '&view=split']) {
      await page.goto(address(`diff?to=${changed}&file=src/zebra.ts${view}`));
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

  browserTest('opens at the file and lines of the address, and writes them into it', async () => {
    const visit = await visitAt(rig, address(`diff?to=${changed}&file=src/long.ts&L=200`), options);
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

  browserTest('has its lines selected by the keys, within one side, over files', async () => {
    const visit = await visitAt(rig, address(`diff?to=${changed}&file=src/long.ts&L=200`), options);
    const { page } = visit;
    const table = page.getByRole('grid', { name: 'Changed lines' });
    await rows(page, 'src/long.ts').locator('.code-selected').waitFor();
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
    expect(await axe(page)).toEqual([]);
  });

  browserTest('is read with the keys: next file, viewed, find', async () => {
    const visit = await visitAt(rig, address(`diff?to=${changed}&file=src/long.ts`), options);
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
    const { page } = await visitAt(rig, address(`diff?to=${changed}&file=src/spaces.ts`), options);
    await rows(page, 'src/spaces.ts').locator('.diff-added').waitFor();
    await page.getByRole('button', { name: 'Ignore space' }).click();
    await rows(page, 'src/spaces.ts').getByText('Only white space changed.').waitFor();
  });

  browserTest('shows what hostile text hides, and says which files it cannot show', async () => {
    const { page } = await visitAt(rig, address(`diff?to=${changed}&file=logo.bin`), options);
    await rows(page, 'logo.bin').getByText('Binary file.').waitFor();
    await page.goto(address(`diff?to=${changed}&file=${encodeURIComponent(HOSTILE.path)}`));
    const marks = rows(page, HOSTILE.path).locator('.hidden-mark');
    await eventually(() => marks.allInnerTexts()).toEqual(['RLO', 'RLO', 'LRI']);
  });

  browserTest(
    'of 10,000 files: all are listed, few are in the page, the last one is read when it is shown',
    async () => {
      const many = await change(
        app.sourceId,
        Array.from({ length: 9990 }, (_, file) => ({
          path: `many/part-${file % 100}/file-${file}.txt`,
          content: `line\n`.repeat(20) + file,
        })),
      );
      const visit = await visitAt(rig, address(`diff?to=${many}`), options);
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
    const { page } = await visitAt(rig, address('sources'), options);
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
    await page.waitForURL(new RegExp(`from=${app.sourceId}&to=`));
  });

  browserTest('a file is read, searched and linked to', async () => {
    const visit = await visitAt(rig, address(`sources/${changed}?file=src/long.ts&L=250-251`), options);
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

  browserTest('lines of a file are selected by the keys, and their link is copied', async () => {
    const visit = await visitAt(rig, address(`sources/${changed}?file=src/long.ts`), options);
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

  browserTest('are edited by hand: changes outlive a reload and make one new source', async () => {
    const visit = await visitAt(rig, address(`sources/${changed}?file=README.md&edit=true`), options);
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
    const source = await ground.client.sources.get(app.id, to);
    expect([source.message, source.parentSourceIds]).toEqual(['By hand', [changed]]);
    expect((await ground.client.sources.file(app.id, to, { path: 'src/new.ts' })).content).toBe(
      'export {};\n',
    );
  });
});
