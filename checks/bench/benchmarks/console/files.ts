/** Large files in the page of a source. */
import { longestTask, untilSo, untilUsable } from '../../lib/page-probe.ts';
import { bytesAt, contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

const LINES = 200_000;
const LINE_BYTES = 8 * 1024 * 1024 - 1;

/** A file of many lines, one with a single line of the largest file that a source may hold, and a small one. */
export async function files(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const lines = Array.from({ length: LINES }, (_, i) => `export const name${i} = ${i}; // ${i % 97}\n`);
  const words = 'const a = "a line that does not end"; ';
  const { source } = await client.sources.import(app.id, {
    files: [
      { path: 'lines.ts', content: lines.join('') },
      { path: 'line.ts', content: words.repeat(LINE_BYTES / words.length) },
      { path: 'small.ts', content: 'export const a = 1;\n' },
    ],
  });
  const names = {
    'lines.ts': `${LINES.toLocaleString('en')} lines`,
    'line.ts': 'one line of 8 MiB',
    'small.ts': 'one line',
  };
  const part: Part = { rows: [], aims: [] };
  for (const [path, name] of Object.entries(names)) {
    const opened: number[] = [];
    const tasks: number[] = [];
    for (let i = 0; i < (setup.quick ? 2 : 5); i++) {
      const context = await contextOf(field, field.base);
      const page = await context.newPage();
      await page.goto(`/console/apps/${app.id}/sources/${source.id}?file=${path}`, { waitUntil: 'commit' });
      const shown = await untilSo(
        page,
        `document.querySelector('main .code [aria-rowindex="1"]') !== null && performance.now()`,
      );
      opened.push(shown - (await bytesAt(page, '/file?')));
      await untilUsable(page);
      tasks.push(await longestTask(page));
      await context.close();
    }
    const rows = [
      row(`a file of ${name}: shown, after the last byte`, opened),
      row(`a file of ${name}: longest task`, tasks),
    ];
    part.rows.push(...rows);
    part.aims.push(most(`a file of ${name}: shown, p50`, rows[0]!.figures.median, [500, 'ms']));
  }
  return part;
}
