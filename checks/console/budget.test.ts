/** How much the console loads, after Vite's manifest. Sizes are those of the gzip files that the build writes. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../packages/console/dist');
const KB = 1000;

interface Chunk {
  file: string;
  src?: string;
  name?: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
  assets?: string[];
}

const manifest = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
const [entryKey] = Object.entries(manifest).find(([, chunk]) => chunk.isEntry)!;

/** A chunk and what it imports at once. */
function closureOf(key: string, found = new Set<string>()): Set<string> {
  if (found.has(key)) return found;
  found.add(key);
  for (const other of manifest[key]!.imports ?? []) closureOf(other, found);
  return found;
}

function sizeOf(file: string): number {
  const path = join(DIST, file);
  if (file.endsWith('.woff2')) return statSync(path).size;
  return existsSync(`${path}.gz`) ? statSync(`${path}.gz`).size : gzipSync(readFileSync(path)).length;
}

const sum = (files: Iterable<string>) => [...new Set(files)].reduce((total, file) => total + sizeOf(file), 0);
const filesOf = (keys: Iterable<string>, pick: (chunk: Chunk) => string[]) =>
  [...keys].flatMap((key) => pick(manifest[key]!));

const shell = closureOf(entryKey);
const scripts = filesOf(shell, (chunk) => [chunk.file]);
const styles = [...new Set(filesOf(shell, (chunk) => chunk.css ?? []))];
const fonts = [
  ...new Set(
    Object.values(manifest)
      .flatMap((chunk) => [chunk.file, ...(chunk.assets ?? [])])
      .filter((file) => file.endsWith('.woff2')),
  ),
];
/** What several pages share, loaded once with the first of them, by the names that the build gives. */
const SHARED: Record<string, number> = { rows: 6 * KB, parts: 42 * KB, fields: 20 * KB, code: 27 * KB };
/** By the names of their sources, what a chunk that is loaded on demand may have; others are pages. */
const BUDGETS: [RegExp, number][] = [[/conflicts\/editor/, 130 * KB]];
const PAGE_BUDGET = 40 * KB;
/** With the code that shows patches; a language comes on top. */
const DIFF_BUDGET = 45 * KB;

const withStyles = (chunk: Chunk) => [chunk.file, ...(chunk.css ?? [])];
const isShared = (key: string) => (manifest[key]!.name ?? '') in SHARED;

/** What comes on demand: the script and styles that neither the shell nor shared chunks have brought. */
const lazy = Object.entries(manifest)
  .filter(([, chunk]) => chunk.file.endsWith('.js'))
  .flatMap(([, chunk]) => chunk.dynamicImports ?? [])
  .filter((key, index, all) => all.indexOf(key) === index && !shell.has(key) && !isShared(key))
  .map((key) => {
    const own = [...closureOf(key)].filter((part) => !shell.has(part) && !isShared(part));
    return { key, size: sum(filesOf(own, withStyles)) };
  });

test('the shell: scripts, styles, fonts', () => {
  expect(sum(scripts), 'scripts').toBeLessThanOrEqual(185 * KB);
  expect(sum(styles), 'styles').toBeLessThanOrEqual(15 * KB);
  expect(sum(fonts), 'fonts').toBeLessThanOrEqual(54 * KB);
  expect(fonts.length, 'files of fonts').toBeLessThanOrEqual(2);
});

test('the first page, with the shell', () => {
  const first = lazy.find(({ key }) => /inbox/i.test(key))!;
  const own = [...closureOf(first.key)].filter((key) => !shell.has(key));
  const files = new Set([...scripts, ...styles, ...fonts, ...filesOf(own, withStyles)]);
  expect(sum(files) + sizeOf('index.html')).toBeLessThanOrEqual(270 * KB);
  // The page itself is one more.
  expect(files.size + 1).toBeLessThanOrEqual(8);
});

test('each chunk that is loaded on demand', () => {
  const over = lazy.filter(
    ({ key, size }) => size > (BUDGETS.find(([pattern]) => pattern.test(key))?.[1] ?? PAGE_BUDGET),
  );
  expect(over).toEqual([]);
});

test('what pages share, and the page of differences with the code that it needs', () => {
  const shared = Object.entries(manifest).filter(([key]) => isShared(key));
  expect(shared.map(([, chunk]) => chunk.name).sort()).toEqual(Object.keys(SHARED).sort());
  for (const [key, chunk] of shared)
    expect(sum(filesOf([key], withStyles)), chunk.name).toBeLessThanOrEqual(SHARED[chunk.name!]!);
  const diff = lazy.find(({ key }) => /diff-page/.test(key))!;
  const code = shared.find(([, chunk]) => chunk.name === 'code')!;
  expect(diff.size + sum(filesOf([code[0]], withStyles))).toBeLessThanOrEqual(DIFF_BUDGET);
});
