/** Differences: of many files, and of many lines. */
import { summarize } from '../../../harness/statistics.ts';
import { framesOfScroll, heapOf, longestTask, untilSo, untilUsable } from '../../lib/page-probe.ts';
import { workOfFrames } from '../../lib/trace.ts';
import { bytesAt, contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

const FILES = 10_000;

export async function difference(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const count = setup.quick ? 1_000 : FILES;
  const made = (word: string) => ({
    files: Array.from({ length: count }, (_, i) => ({
      path: `src/part-${Math.floor(i / 50)}/file-${i}.ts`,
      content: `const a = ${i};\nconst b = '${word}';\nexport const sum = a + b.length;\n`,
    })),
  });
  const from = await client.sources.import(app.id, made('before'));
  const to = await client.sources.import(app.id, made('after'));
  const { context, page } = await openDifference(field, from.source.id, to.source.id);
  const shown = await untilSo(
    page,
    `document.querySelector('main [role="treeitem"]') !== null && performance.now()`,
  );
  const bytes = await page.evaluate<number>(
    `Math.min(...performance.getEntriesByType('resource').filter(({ name }) => name.includes('/diff?')).map((entry) => entry.responseEnd).filter(Boolean))`,
  );
  await untilUsable(page);
  const session = await context.newCDPSession(page);
  const wheels = setup.quick ? 60 : 100;
  const scroll = await framesOfScroll(page, wheels);
  const task = await longestTask(page);
  const work = await workOfFrames(field.browser, page, () => framesOfScroll(page, wheels));
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length');
  const heap = await heapOf(session);
  await context.close();
  const plain = await contextOf(field, field.blank);
  const blank = await plain.newPage();
  await blank.goto('/');
  const blankScroll = await framesOfScroll(blank, wheels);
  await plain.close();
  const name = `difference of ${count.toLocaleString('en')} files`;
  const p95 = summarize(scroll).p95 / summarize(blankScroll).p95;
  return {
    rows: [
      row(`${name}: the list, after the first answer`, [shown - bytes]),
      row(`${name}: longest task`, [task]),
      row(`${name}: elements of the page`, [nodes], 'objects'),
      row(`${name}: heap`, [heap], 'KiB'),
      row(`${name}: a frame of scrolling`, scroll),
      row('a blank page: a frame of scrolling', blankScroll),
      row(`${name}: work of a frame of scrolling`, work),
    ],
    aims: [
      most(`${name}: list`, shown - bytes, [300, 'ms']),
      most(`${name}: longest task`, task, [200, 'ms']),
      most(`${name}: elements`, nodes, [1_500, 'objects']),
      most(`${name}: heap`, heap, [150 * 1024, 'KiB']),
      most(`${name}: scrolling, p95, against a blank page`, p95, [2, '×']),
    ],
  };
}

const LINES = 200_000;

/** One file with so many changed lines. */
export async function longPatch(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const made = (word: string) => ({
    files: [
      {
        path: 'long.ts',
        content: Array.from({ length: LINES / 2 }, (_, i) => `const ${word}${i} = ${i};\n`).join(''),
      },
    ],
  });
  const from = await client.sources.import(app.id, made('a'));
  const to = await client.sources.import(app.id, made('b'));
  const opened: number[] = [];
  const tasks: number[] = [];
  for (let i = 0; i < (setup.quick ? 2 : 5); i++) {
    const { context, page } = await openDifference(field, from.source.id, to.source.id);
    const shown = await untilSo(
      page,
      `document.querySelector('main .code .code-row') !== null && performance.now()`,
    );
    opened.push(shown - (await bytesAt(page, '/diff?', '/diff/')));
    tasks.push(await longestTask(page));
    await context.close();
  }
  const name = `a patch of ${LINES.toLocaleString('en')} lines`;
  return {
    rows: [row(`${name}: shown, after the last byte`, opened), row(`${name}: longest task`, tasks)],
    aims: [most(`${name}: longest task`, Math.max(...tasks), [200, 'ms'])],
  };
}

async function openDifference(field: Field, from: string, to: string) {
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  await page.goto(`/console/apps/${field.app.id}/diff?from=${from}&to=${to}`, { waitUntil: 'commit' });
  return { context, page };
}
