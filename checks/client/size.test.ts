/** The size budgets of the package: what an app ships, and what an editor reads. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stageClient } from '../../scripts/client-pack.ts';
import { gzippedBundle } from './bundle.ts';

const root = join(import.meta.dirname, '../..');
const KILO = 1_000;
let scratch: string;
let stage: string;

interface Manifest {
  private?: boolean;
  dependencies?: Record<string, string>;
  exports: Record<string, { types: string; default: string }>;
}

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'headrace-test-'));
  stage = join(scratch, 'stage');
  await stageClient(stage);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
const bytesOf = (files: readonly string[]) => files.reduce((sum, file) => sum + statSync(file).size, 0);
const dist = (name: string) => join(stage, 'dist', name);

test('every export is compiled, and nothing but the package is installed', () => {
  const manifest = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')) as Manifest;
  expect(Object.keys(manifest.exports)).toEqual(['.', './files', './node', './testing', './webhooks']);
  for (const files of Object.values(manifest.exports))
    for (const file of Object.values(files)) expect(existsSync(join(stage, file)), file).toBe(true);
  expect(manifest.dependencies ?? {}).toEqual({});
  expect(manifest.private).toBeUndefined();
  expect(filesOf(stage).filter((name) => /\.(test|fixture)\./.test(name))).toEqual([]);
});

test.each([
  ['.', './index.js', 13 * KILO],
  ['events alone', './events/index.js', 5 * KILO],
  ['./webhooks', './webhooks.js', 2 * KILO],
])('%s is small enough for a page, and needs nothing of Node', async (_, file, most) => {
  expect(await gzippedBundle(file, dist('.'))).toBeLessThanOrEqual(most);
});

test.each(['files', 'testing'])('./%s needs nothing of Node', async (name) => {
  await gzippedBundle(`./${name}/index.js`, dist('.'));
});

test('the declarations of . are small enough for an editor', () => {
  const names = filesOf(join(stage, 'dist')).filter((name) => name.endsWith('.d.ts'));
  const own = names.filter((name) => !/^(files|node|testing)\//.test(name));
  expect(bytesOf(own.map(dist))).toBeLessThanOrEqual(160 * KILO);
});

test('what is installed is half a megabyte at most', () => {
  expect(bytesOf(filesOf(stage).map((name) => join(stage, name)))).toBeLessThanOrEqual(500 * KILO);
});

test('all but ./node compiles without the types of Node', async () => {
  const config = join(root, 'packages/client/tsconfig.web.json');
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/.bin/tsc'), '-p', config]);
});
