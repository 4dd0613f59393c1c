import { END, headersOf, padding } from '@headrace/client/files';
import { expect, test } from 'vitest';
import { filesOf, skillText } from './files.ts';
import { filesFault, nameFault, nameIn } from './rules.ts';

test('names as the service takes them', () => {
  for (const name of ['a', 'release-notes', 'x'.repeat(64)]) expect(nameFault(name)).toBeNull();
  for (const name of ['', 'Release', 'a--b', '-a', 'a_b', 'x'.repeat(65)])
    expect(nameFault(name)).not.toBeNull();
});

test('the name in the front matter', () => {
  const named = (line: string) => nameIn(`---\n${line}\ndescription: d\n---\n\nname: other\n`);
  expect(named('name: release-notes')).toBe('release-notes');
  expect(named('name: "release-notes" \r')).toBe('release-notes');
  expect(named('name: Release Notes')).toBeNull();
  expect(named('title: x')).toBeNull();
  expect(nameIn('name: release-notes')).toBeNull();
});

test('too many, too large, and without SKILL.md', () => {
  const files = (n: number) => [
    { path: 'SKILL.md' },
    ...Array.from({ length: n }, (_, i) => ({ path: `${i}` })),
  ];
  expect(filesFault(files(199), 4 * 1024 * 1024)).toBeNull();
  expect(filesFault(files(200), 1)).toMatch(/at most 200 files/);
  expect(filesFault(files(1), 4 * 1024 * 1024 + 1)).toMatch(/at most 4 MiB/);
  expect(filesFault([{ path: 'docs/SKILL.md' }], 1)).toMatch(/SKILL\.md at its top/);
});

test('text goes as it is, and scripts are executable', async () => {
  const picked = (path: string, content: string) => ({ path, file: new File([content], path) });
  expect(await filesOf([picked('SKILL.md', '\uFEFFa ö'), picked('run.sh', '#!/bin/sh\n')])).toEqual([
    { path: 'SKILL.md', content: '\uFEFFa ö' },
    { path: 'run.sh', content: '#!/bin/sh\n', executable: true },
  ]);
});

test('SKILL.md is found in an archive behind long names', async () => {
  const parts = [`${'ö'.repeat(80)}.md`, 'SKILL.md', 'z.md'].flatMap((path) => {
    const content = new TextEncoder().encode(`text of ${path}`.padEnd(700, '.'));
    return [
      ...headersOf({ path, byteSize: content.length, executable: false }),
      content,
      padding(content.length),
    ];
  });
  const packed = async (all: Uint8Array[]) => {
    const stream = new Blob(all.map((part) => part.slice()))
      .stream()
      .pipeThrough(new CompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  expect(await skillText(await packed([...parts, END]))).toBe('text of SKILL.md'.padEnd(700, '.'));
  expect(await skillText(await packed([END]))).toBeNull();
});
