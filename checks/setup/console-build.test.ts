/** What set-up does for the console, with a vite that is a few lines. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

interface ConsoleBuild {
  isBuilt(root: string, options?: { retries: boolean }): boolean;
  buildConsole(
    root: string,
    options: { say: (line: string) => void; node: string; limitMs?: number },
  ): Promise<void>;
}
const script = new URL('../../scripts/console-build.mjs', import.meta.url);
const { isBuilt, buildConsole } = (await import(/* @vite-ignore */ script.href)) as ConsoleBuild;

/** Does what the console's only source says. */
const VITE = `
const { readFileSync, writeFileSync } = require('node:fs');
const source = readFileSync('packages/console/src/main.tsx', 'utf8');
const into = process.argv[process.argv.indexOf('--outDir') + 1];
writeFileSync(into + '/index.html', source + ' ' + process.env.NODE_ENV);
if (source === 'wrong') { console.error('\\x1b[31m' + process.cwd() + '/packages/console/src/main.tsx: wrong\\x1b[0m'); process.exit(1); }
if (source === 'endless') setInterval(() => {}, 1000);
`;

let root: string;
let said: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'headrace-setup-'));
  said = [];
  write('packages/console/vite.config.ts', '');
  write('packages/console/src/main.tsx', 'first');
  write('packages/client/src/index.ts', '');
  write('package-lock.json', '{}');
  write('node_modules/vite/bin/vite.js', VITE);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}
const dist = (name: string) => readFileSync(join(root, 'packages/console/dist', name), 'utf8');
const build = (limitMs?: number) =>
  buildConsole(root, { say: (line) => said.push(line), node: process.execPath, limitMs });

test('builds what was never built, and then only when a source has other contents', async () => {
  expect(isBuilt(root)).toBe(false);
  await build();
  expect(isBuilt(root)).toBe(true);
  expect(dist('index.html')).toBe('first production');
  expect(said).toEqual(['Building the console.', expect.stringMatching(/^Console built in \d/)]);

  utimesSync(join(root, 'packages/console/src/main.tsx'), 1, 1);
  write('packages/console/src/main.test.tsx', 'a test');
  expect(isBuilt(root)).toBe(true);

  for (const path of [
    'packages/console/src/ui/new.tsx',
    'packages/client/src/index.ts',
    'packages/client/package.json',
    'package-lock.json',
  ]) {
    write(path, 'changed');
    expect(isBuilt(root), path).toBe(false);
    await build();
    expect(isBuilt(root), path).toBe(true);
  }
});

test('the same sources elsewhere are the same build', async () => {
  await build();
  const copy = `${root}-copy`;
  try {
    cpSync(root, copy, { recursive: true });
    expect(isBuilt(copy)).toBe(true);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

test('without sources, what is there stays', () => {
  rmSync(join(root, 'packages/console'), { recursive: true });
  expect(isBuilt(root)).toBe(true);
  write('packages/console/dist/index.html', 'shipped');
  expect(isBuilt(root)).toBe(true);
});

test('a failure is left for the service to show, and only a start tries again', async () => {
  await build();
  write('packages/console/src/main.tsx', 'wrong');
  await build();
  expect(dist('failure.txt')).toBe('packages/console/src/main.tsx: wrong\n(vite build: 1)');
  expect(() => dist('index.html')).toThrow('ENOENT');
  expect(said.at(-1)).toContain('could not be built');
  expect([isBuilt(root), isBuilt(root, { retries: true })]).toEqual([true, false]);
  write('packages/console/src/main.tsx', 'right');
  expect(isBuilt(root)).toBe(false);
  await build();
  expect(dist('index.html')).toBe('right production');
  expect(() => dist('failure.txt')).toThrow('ENOENT');
});

test('a build that does not end is ended', async () => {
  write('packages/console/src/main.tsx', 'endless');
  await build(300);
  expect(dist('failure.txt')).toContain('0.3 s');
});

test('what cannot even start is a failure like others', async () => {
  rmSync(join(root, 'node_modules'), { recursive: true });
  await build();
  expect(dist('failure.txt')).toContain('vite.js');
  expect(dist('failure.txt')).not.toContain(root);
});

test('what a killed build has left is no build, and the next one replaces it', async () => {
  write('packages/console/.dist-next/index.html', 'half');
  expect(isBuilt(root)).toBe(false);
  await build();
  expect(isBuilt(root)).toBe(true);
  expect(dist('index.html')).toBe('first production');
});
