import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gitPatches } from './git.fixture.ts';
import { ADDED, CONTEXT, HUNK, REMOVED, countRows, parsePatch, rowText } from './patch.ts';
import type { Patch } from './patch.ts';

const SIGNS = ['@', ' ', '-', '+'];

function show(patch: Patch): string[] {
  return Array.from({ length: patch.length }, (_, row) =>
    [
      SIGNS[patch.kind[row]!]!,
      patch.oldLine[row],
      patch.newLine[row],
      rowText(patch, row) + (patch.noEnd[row] === 1 ? '⌀' : ''),
    ].join(' '),
  );
}

/** The new text, made of the old one and the rows. */
function apply(before: string, patch: Patch): string {
  const old = before.split('\n');
  const lines: string[] = [];
  let next = 1;
  let ended = before === '' || before.endsWith('\n');
  if (ended) old.pop();
  for (let row = 0; row < patch.length; row++) {
    const kind = patch.kind[row]!;
    if (kind === HUNK) while (next < patch.oldLine[row]!) lines.push(old[next++ - 1]!);
    if (kind === CONTEXT || kind === REMOVED) {
      expect(rowText(patch, row)).toBe(old[next - 1]);
      expect(patch.oldLine[row]).toBe(next++);
    }
    if (kind === CONTEXT || kind === ADDED) {
      lines.push(rowText(patch, row));
      expect(patch.newLine[row]).toBe(lines.length);
      ended = patch.noEnd[row] !== 1;
    }
  }
  if (next <= old.length) ended = before.endsWith('\n');
  while (next <= old.length) lines.push(old[next++ - 1]!);
  return lines.length === 0 ? '' : lines.join('\n') + (ended ? '\n' : '');
}

describe("git's patches", () => {
  test('hunks with old and new line numbers', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n';
    const [patch] = gitPatches({ f: before }, { f: before.replace('b\n', 'B\n').replace('k\n', 'k\nK\n') });
    expect(show(parsePatch(patch!))).toEqual([
      '@ 1 1 @@ -1,5 +1,5 @@',
      '  1 1 a',
      '- 2 0 b',
      '+ 0 2 B',
      '  3 3 c',
      '  4 4 d',
      '  5 5 e',
      '@ 9 9 @@ -9,4 +9,5 @@ h',
      '  9 9 i',
      '  10 10 j',
      '  11 11 k',
      '+ 0 12 K',
      '  12 13 l',
    ]);
  });

  test('a line that looks like a header is a line', () => {
    const [patch] = gitPatches({ f: '-- a\n@@ -1 +1 @@\n' }, { f: '++ b\n' });
    expect(show(parsePatch(patch!))).toEqual([
      '@ 1 1 @@ -1,2 +1 @@',
      '- 1 0 -- a',
      '- 2 0 @@ -1 +1 @@',
      '+ 0 1 ++ b',
    ]);
  });

  test('no newline at the end, on either side', () => {
    const [lost] = gitPatches({ f: 'a\nb\n' }, { f: 'a\nb' });
    expect(show(parsePatch(lost!)).slice(1)).toEqual(['  1 1 a', '- 2 0 b', '+ 0 2 b⌀']);
    const [kept] = gitPatches({ f: 'a\nb' }, { f: 'A\nb' });
    expect(show(parsePatch(kept!)).slice(1)).toEqual(['- 1 0 a', '+ 0 1 A', '  2 2 b⌀']);
  });

  test('new and deleted files count from 1', () => {
    const [gone, made] = gitPatches({ a: 'one\ntwo\nthree\n' }, { b: 'x\n' });
    expect(show(parsePatch(gone!)).slice(1)).toEqual(['- 1 0 one', '- 2 0 two', '- 3 0 three']);
    expect(show(parsePatch(made!)).slice(1)).toEqual(['+ 0 1 x']);
  });

  test('renames, modes, binary files and quoted names', () => {
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');
    const renamed = gitPatches(
      { 'old.txt': lines },
      { 'sub/new.txt': lines.replace('line 7', 'line seven') },
    );
    expect(renamed[0]).toContain('rename to');
    expect(show(parsePatch(renamed[0]!)).filter((row) => row[0] !== ' ')).toEqual([
      '@ 5 5 @@ -5,7 +5,7 @@ line 3',
      '- 8 0 line 7',
      '+ 0 8 line seven',
    ]);
    const mode = gitPatches({ f: 'a\n' }, { f: 'a\n' }, ['f']);
    expect(mode[0]).toContain('new mode 100755');
    expect(parsePatch(mode[0]!).length).toBe(0);
    const binary = gitPatches({ f: '\0a' }, { f: '\0b' });
    expect(binary[0]).toContain('Binary files');
    expect(parsePatch(binary[0]!).length).toBe(0);
    const quoted = gitPatches(
      { 'naïve "q"\n@@ -1 +1 @@.txt': 'a\n' },
      { 'naïve "q"\n@@ -1 +1 @@.txt': 'b\n' },
    );
    expect(show(parsePatch(quoted[0]!)).slice(1)).toEqual(['- 1 0 a', '+ 0 1 b']);
  });

  test('carriage returns, unicode separators and form feeds stay in their lines', () => {
    const [patch] = gitPatches({ f: 'a\r\nb\n' }, { f: 'a\nb\u2028c\u000c\n' });
    expect(show(parsePatch(patch!)).slice(1)).toEqual([
      '- 1 0 a\r',
      '- 2 0 b',
      '+ 0 1 a',
      '+ 0 2 b\u2028c\u000c',
    ]);
  });

  test('applied to the old text, the rows give the new one', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        'a',
        'b',
        ' a',
        '-',
        '+',
        '@@ -1,9 +1,9 @@',
        '\\ No newline at end of file',
        'x\r',
        'ü\u2028',
      ),
      fc.string({ maxLength: 5, unit: 'grapheme' }).map((text) => text.replaceAll(/[\n\0]/g, '')),
    );
    const text = fc
      .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
      .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [patch] = gitPatches({ f: before }, { f: after });
        expect(apply(before, parsePatch(patch ?? ''))).toBe(after);
      }),
      { numRuns: 60 },
    );
  });
});

describe('other text', () => {
  const whole = 'diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ x\n a\n-b\n+c\n d\n';

  test('a patch that is cut anywhere has the rows so far', () => {
    const rows = show(parsePatch(whole));
    for (let end = 0; end <= whole.length; end++) {
      const cut = show(parsePatch(whole.slice(0, end)));
      expect(cut.length).toBeLessThanOrEqual(rows.length);
      expect(cut.slice(0, -1)).toEqual(rows.slice(0, Math.max(0, cut.length - 1)));
    }
  });

  test('anything gives rows inside of the text', () => {
    const piece = fc.constantFrom(
      '@@ -1,2 +1,2 @@',
      '@@ -0,0 +999999999 @@',
      '@@ -1',
      ' ',
      '+',
      '-',
      '\\ No',
      '\n',
      '\r\n',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const patch = parsePatch(text);
        expect(patch.length).toBeLessThanOrEqual(countRows(text));
        for (let row = 0; row < patch.length; row++) {
          expect(patch.from[row]).toBeLessThanOrEqual(patch.to[row]!);
          expect(rowText(patch, row)).not.toContain('\n');
        }
      }),
    );
  });

  test('a hunk shorter than it says ends at the next one', () => {
    expect(show(parsePatch('@@ -1,9 +1,9 @@\n a\n@@ -20 +20 @@\n-b\n+c\n'))).toEqual([
      '@ 1 1 @@ -1,9 +1,9 @@',
      '  1 1 a',
      '@ 20 20 @@ -20 +20 @@',
      '- 20 0 b',
      '+ 0 20 c',
    ]);
  });
});
