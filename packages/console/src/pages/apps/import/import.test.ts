import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tarGz, UnreadableError } from './archive.ts';
import { chosenEntries } from './entries.ts';
import { faultsByPath } from './faults.ts';
import { scanEntries } from './scan.ts';

/** As a browser gives the files of a chosen folder. */
function chosen(files: Record<string, string | Uint8Array<ArrayBuffer>>) {
  return chosenEntries(
    Object.entries(files).map(([path, content]) => {
      const file = new File([content], path.split('/').at(-1)!);
      return Object.defineProperty(file, 'webkitRelativePath', { value: path });
    }),
  );
}

const pathsOf = (files: { path: string }[]) => files.map(({ path }) => path);

test('ignore files of each folder, dependency folders and reserved names decide what is left out', async () => {
  const scan = await scanEntries(
    chosen({
      '.git/config': '',
      '.gitignore': '*.log\n/dist\n!keep.log\n',
      'dist/a.js': '',
      'keep.log': '',
      'node_modules/a/index.js': '',
      'src/.gitignore': 'secret\n!x.log\n',
      'src/a.ts': '',
      'src/dist/b.js': '',
      'src/secret': '',
      'src/x.log': '',
      'y.log': '',
    }),
  );
  expect(pathsOf(scan.files)).toEqual([
    '.gitignore',
    'keep.log',
    'src/.gitignore',
    'src/a.ts',
    'src/dist/b.js',
    'src/x.log',
  ]);
  expect(scan.leftOut.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
    '.git/ reserved',
    'dist/ ignored',
    'node_modules/ dependencies',
    'src/secret ignored',
    'y.log ignored',
  ]);
});

test('what is left out can be taken in, but never a reserved name', async () => {
  const entries = chosen({
    '.git/config': '',
    '.gitignore': '*.log\ndist/**\n',
    'dist/a.js': '',
    'dist/b.log': '',
    'y.log': '',
  });
  const scan = await scanEntries(entries, { taken: new Set(['.git/', 'dist/a.js', 'y.log']) });
  expect(pathsOf(scan.files)).toEqual(['.gitignore', 'dist/a.js', 'y.log']);
  expect(scan.leftOut.filter(({ isTaken }) => isTaken).map(({ path }) => path)).toEqual([
    'dist/a.js',
    'y.log',
  ]);
});

test('what the service would refuse is named by path before anything is sent', async () => {
  const scan = await scanEntries(
    chosen({ 'A.txt': '', 'a.txt': '', 'b\u0007': '', large: new Uint8Array(8 * 1024 * 1024 + 1) }),
  );
  expect(faultsByPath(scan.fields, pathsOf(scan.files))).toEqual([
    { path: 'a.txt', message: 'is the path of an earlier file (ignoring case)' },
    { path: 'b\u0007', message: 'must not contain control characters' },
    { path: 'large', message: 'must not be larger than 8 MiB' },
  ]);
});

test("a refusal's pointers become paths, also those of an archive that only the service has read", () => {
  const fields = [
    { path: '/files', message: 'A source holds at most 10000 files.' },
    { path: '/files/1/path', message: '"b/../c" must not contain "." or ".." as a part' },
    { path: '/files/7/content', message: 'must not be larger than 8 MiB' },
  ];
  expect(faultsByPath(fields, ['a', 'b/../c'])).toEqual([
    { path: null, message: 'A source holds at most 10000 files.' },
    { path: 'b/../c', message: 'must not contain "." or ".." as a part' },
    { path: 'file 8', message: 'must not be larger than 8 MiB' },
  ]);
  expect(faultsByPath(fields.slice(1, 2), null)).toEqual([
    { path: 'b/../c', message: 'must not contain "." or ".." as a part' },
  ]);
});

test('tar reads the archive: names, contents and modes', async () => {
  const long = `${'n'.repeat(101)}/ümlaut`;
  const { files } = await scanEntries(
    chosen({ 'a.txt': 'a\n', 'bin/run': '#!/bin/sh\n', [long]: 'x'.repeat(513), 'empty/file': '' }),
  );
  const folder = mkdtempSync(join(tmpdir(), 'headrace-console-'));
  try {
    const archive = join(folder, 'a.tar.gz');
    writeFileSync(archive, Buffer.from(await (await tarGz(files)).arrayBuffer()));
    const listed = execFileSync('tar', ['-tvzf', archive, '--quoting-style=literal'], { encoding: 'utf8' });
    expect(listed.trim().split('\n').map(modeSizeAndName)).toEqual([
      `-rw-r--r-- 2 a.txt`,
      `-rwxr-xr-x 10 bin/run`,
      `-rw-r--r-- 0 empty/file`,
      `-rw-r--r-- 513 ${long}`,
    ]);
    const content = execFileSync('tar', ['-xzOf', archive, long], { encoding: 'utf8' });
    expect(content).toBe('x'.repeat(513));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const modeSizeAndName = (line: string) => {
  const [mode, , size, , , ...name] = line.split(/\s+/);
  return `${mode} ${size} ${name.join(' ')}`;
};

test('a file that is gone is named, and packing ends with its signal', async () => {
  const gone = Object.assign(new File([''], 'a'), { arrayBuffer: () => Promise.reject(new Error('gone')) });
  await expect(tarGz([{ path: 'src/a', file: gone }])).rejects.toThrow(UnreadableError);
  const stop = new AbortController();
  const files = Array.from({ length: 100 }, (_, i) => ({ path: `${i}`, file: new File(['x'], `${i}`) }));
  const packing = tarGz(files, {
    signal: stop.signal,
    onFile: (count) => count === 3 && stop.abort(new Error('enough')),
  });
  await expect(packing).rejects.toThrow('enough');
});
