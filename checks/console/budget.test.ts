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
/** By the names of their sources, what a chunk that is loaded on demand may have; others are pages and their parts. */
const BUDGETS: [RegExp, number][] = [
  [/conflicts\/editor/, 130 * KB],
  [/diff/, 45 * KB],
];
const PAGE_BUDGET = 40 * KB;
/** Parts that several pages load are loaded once. */
const SHARED_BUDGET = 75 * KB;

const onDemand = new Map(
  [...new Set(Object.values(manifest).flatMap((chunk) => chunk.dynamicImports ?? []))]
    .filter((key) => !shell.has(key))
    .map((key) => [key, [...closureOf(key)].filter((part) => !shell.has(part))]),
);
const usersOf = (part: string) => [...onDemand.values()].filter((parts) => parts.includes(part)).length;
const sizeOfParts = (parts: string[]) =>
  sum(filesOf(parts, (chunk) => [chunk.file, ...(chunk.css ?? [])].filter((file) => !styles.includes(file))));

test('the shell: scripts, styles, fonts', () => {
  expect(sum(scripts), 'scripts').toBeLessThanOrEqual(185 * KB);
  expect(sum(styles), 'styles').toBeLessThanOrEqual(15 * KB);
  expect(sum(fonts), 'fonts').toBeLessThanOrEqual(54 * KB);
  expect(fonts.length, 'files of fonts').toBeLessThanOrEqual(2);
});

test('the first page, with the shell', () => {
  const [, own] = [...onDemand].find(([key]) => key.includes('inbox'))!;
  const files = new Set([
    ...scripts,
    ...styles,
    ...fonts,
    ...filesOf(own, (chunk) => [chunk.file, ...(chunk.css ?? [])]),
  ]);
  expect(sum(files) + sizeOf('index.html')).toBeLessThanOrEqual(270 * KB);
  // The page itself is one more.
  expect(files.size + 1).toBeLessThanOrEqual(8);
});

test('each chunk that is loaded on demand, without what several share', () => {
  const over = [...onDemand]
    .map(([key, parts]) => ({
      key,
      size: sizeOfParts(parts.filter((part) => part === key || usersOf(part) === 1)),
    }))
    .filter(({ key, size }) => size > (BUDGETS.find(([pattern]) => pattern.test(key))?.[1] ?? PAGE_BUDGET));
  expect(over).toEqual([]);
});

test('what several pages share', () => {
  const pages = [...onDemand].filter(([key]) => key.endsWith('-page.tsx')).flatMap(([, parts]) => parts);
  const shared = pages.filter((part) => !onDemand.has(part) && usersOf(part) > 1);
  expect(sizeOfParts([...new Set(shared)])).toBeLessThanOrEqual(SHARED_BUDGET);
});
