import { describe, expect, test } from 'vitest';
import { innerLinks, linksBeside, targetOf } from './inner-links.ts';

const inner = (links: Record<string, string | null>): string[] => [
  ...innerLinks(new Map(Object.entries(links))).keys(),
];
const files = (...paths: string[]) =>
  new Map(paths.map((path) => [path, { sha256: '', byteSize: 0, executable: false }]));

describe('a link of a commit', () => {
  test.each([
    ['leads to a file next to it', { l: 'a' }, ['l']],
    ['leads up within the repository', { 'd/e/l': '../../a' }, ['d/e/l']],
    ['leads to the top', { 'd/l': '..' }, ['d/l']],
    ['leads nowhere', { l: 'none/x' }, ['l']],
    ['goes out and comes back', { 'd/l': '../../repository/a' }, []],
    ['leads out', { l: '../a', 'd/l': '../../a' }, []],
    ['is absolute', { l: '/etc/passwd', m: '/' }, []],
    ['leads through another', { 'd/l': 'm/x', 'd/m': '../e' }, ['d/l', 'd/m']],
    ['leads up from where another leads', { l: 'm/../x', m: 'd/e' }, ['l', 'm']],
    ['leads out from where another leads', { l: 'm/../../x', m: 'd' }, ['m']],
    ['leads through one that leads out', { l: 'm/x', m: '..' }, []],
    ['leads through one that is absolute', { l: 'm', m: '/x' }, []],
    ['leads through one that is none', { l: 'm', m: null }, []],
    ['leads to itself', { l: 'l', m: './m/x' }, []],
    ['leads round in a ring', { l: 'm', m: 'n', n: 'l', o: 'l' }, []],
    ['has a reserved name', { '.context': 'a', 'd/.GIT/x': '../../a', '.git': 'a' }, []],
    ['has a name that no source has', { 'a\tb': 'x', 'a\\b': 'x' }, []],
  ] as [string, Record<string, string | null>, string[]][])('that %s', (_, links, kept) => {
    expect(inner(links)).toEqual(kept);
  });

  test('that is one of a chain is there as long as the kernel follows it', () => {
    const chain = (n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`l${i}`, i + 1 < n ? `l${i + 1}` : 'a']));
    expect(inner(chain(40))).toHaveLength(40);
    expect(inner(chain(42))).toHaveLength(40);
  });

  test('has a target of text without NULs', () => {
    expect(
      ['a', '', '/a', 'a\0b', 'x'.repeat(4095), 'x'.repeat(4096)].map((text) => targetOf(Buffer.from(text))),
    ).toEqual(['a', null, null, null, 'x'.repeat(4095), null]);
    expect(targetOf(Buffer.from([0x61, 0xff]))).toBe(null);
  });

  test('gives way to a file at, above or below its path, and to no other', () => {
    const links = new Map([
      ['at', 'x'],
      ['above/d/l', 'x'],
      ['below', 'x'],
      ['free', 'x'],
      ['d/free', 'x'],
    ]);
    const left = linksBeside(links, files('at', 'above', 'below/x/y', 'free.txt', 'd/other', 'freedom/x'));
    expect([...left.keys()]).toEqual(['free', 'd/free']);
  });
});

test('links whose way is long on purpose are left out, and hold nothing up', () => {
  const target = `${'x/'.repeat(680)}${'../'.repeat(680)}l0`;
  const all = new Map(Array.from({ length: 3_000 }, (_, n) => [`l${n}`, target]));
  const start = performance.now();
  expect(innerLinks(new Map([['plain', 'a/b'], ...all])).size).toBe(1);
  expect(performance.now() - start).toBeLessThan(3_000);
});
