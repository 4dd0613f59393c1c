/** Three versions of an app whose merge has each of the seven kinds of conflict. */
import { PNG } from 'pngjs';

const text = (changed: Record<number, string> = {}) =>
  Array.from({ length: 40 }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('');
const SIZE = 96;
/** A picture: a ring of this colour. */
const ring = (red: number, green: number, blue: number) => {
  const picture = new PNG({ width: SIZE, height: SIZE });
  for (let at = 0; at < SIZE * SIZE; at++) {
    const away = Math.hypot((at % SIZE) - SIZE / 2, Math.floor(at / SIZE) - SIZE / 2);
    picture.data.set([red, green, blue, away > 24 && away < 44 ? 255 : 0], at * 4);
  }
  return { encoding: 'base64' as const, content: PNG.sync.write(picture).toString('base64') };
};

export const KINDS = ['content', 'add_add', 'delete_modify', 'rename', 'mode', 'binary', 'path'] as const;

export const BASE_FILES = [
  { path: 'README.md', content: '# The shop\n' },
  { path: 'src/prices.ts', content: text() },
  { path: 'src/legacy.ts', content: text() },
  { path: 'src/old-name.ts', content: text({ 1: 'export const name = 1' }) },
  { path: 'assets/logo.png', ...ring(120, 120, 120) },
];

export const HEAD_CHANGES = [
  { path: 'src/prices.ts', content: text({ 5: 'price in euros', 30: 'tax of the head' }) },
  { path: 'src/added.ts', content: 'export const by = "head";\n' },
  { path: 'src/legacy.ts', content: null },
  { path: 'src/head-name.ts', renameFrom: 'src/old-name.ts' },
  { path: 'bin/run.sh', content: 'echo run\n', executable: true },
  { path: 'assets/logo.png', ...ring(11, 100, 120) },
  { path: 'docs/Notes.md', content: 'Notes of the head\n' },
];

export const DRAFT_CHANGES = [
  { path: 'src/prices.ts', content: text({ 5: 'price in dollars', 30: 'tax of the draft' }) },
  { path: 'src/added.ts', content: 'export const by = "draft";\n' },
  { path: 'src/legacy.ts', content: text({ 7: 'still in use' }) },
  { path: 'src/draft-name.ts', renameFrom: 'src/old-name.ts' },
  { path: 'bin/run.sh', content: 'echo run\n', executable: false },
  { path: 'assets/logo.png', ...ring(170, 90, 0) },
  { path: 'docs/notes.md', content: 'Notes of the draft\n' },
];
