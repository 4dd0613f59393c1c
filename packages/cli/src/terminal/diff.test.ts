import { expect, test } from 'vitest';
import { diffStat, paintPatch } from './diff.ts';
import { paintFor } from './style.ts';

const plain = paintFor(false);
const colors = paintFor(true);
const PATCH = `diff --git a/a.ts b/a.ts
index 1..2 100644
--- a/a.ts
+++ b/a.ts
@@ -1,4 +1,4 @@ function sum(a) {
 // Sums.
--- old comment
-const total = count + 1;
+const total = size + 1;
++++ odd
 done
\\ No newline at end of file
`;

test('headers, hunks and lines have their colours; signs in a hunk make no header', () => {
  const named = paintPatch(PATCH, { paint: (color, text) => `<${color}>${text}` });
  expect(named).toBe(`<bold>diff --git a/a.ts b/a.ts
<bold>index 1..2 100644
<bold>--- a/a.ts
<bold>+++ b/a.ts
<cyan>@@ -1,4 +1,4 @@ function sum(a) {
 // Sums.
<red>--- old comment
<red>-const total = count + 1;
<green>+const total = size + 1;
<green>++++ odd
 done
\\ No newline at end of file
`);
});

test('without colours, a patch is itself', () => {
  expect(paintPatch(PATCH, { paint: plain })).toBe(PATCH);
});

test('changed words are marked, by inversion or without colours by brackets', () => {
  const patch = '@@ -1,2 +1,1 @@\n-let größe = alt(1);\n-let rest;\n+let größe = neu(1);\n';
  expect(paintPatch(patch, { paint: plain, words: true })).toBe(
    '@@ -1,2 +1,1 @@\n-let größe = [-alt-](1);\n-[-let rest;-]\n+let größe = {+neu+}(1);\n',
  );
  expect(paintPatch(patch, { paint: colors, words: true })).toContain('= \u001b[7mneu\u001b[27m(1);');
});

test('lines with no word in common, and blocks too large to compare, are marked as a whole', () => {
  const other = '@@ -1 +1 @@\n-(one)\n+(two)\n';
  expect(paintPatch(other, { paint: plain, words: true })).toBe(other);
  const lines = (sign: string) => `${sign}same a b c d e f g h i\n`.repeat(400);
  const large = `@@ -1,400 +1,400 @@\n${lines('-')}${lines('+')}`;
  expect(paintPatch(large, { paint: plain, words: true })).toBe(large);
});

test('control characters of a file are shown, and a damaged patch ends', () => {
  const patch = '@@ -1,9 +1,0 @@\n-\u001b[2Jgone\r\n+\u202etxt.exe\n';
  expect(paintPatch(patch, { paint: plain, words: true })).toBe(
    '@@ -1,9 +1,0 @@\n-␛[2Jgone␍\n+<202E>txt.exe\n',
  );
});

const FILES = [
  { path: 'src/日本語.ts', binary: false, additions: 100, deletions: 1 },
  { path: 'assets/a very long folder name/logo.png', binary: true, additions: 0, deletions: 0 },
  { path: 'new.ts', oldPath: 'old.ts', binary: false, additions: 0, deletions: 3 },
];

test('counts of files fit the terminal, with wide characters; a pipe has 80 columns', () => {
  expect(diffStat(FILES, { width: 40, paint: plain }).split('\n')).toEqual([
    ' src/日本語.ts       | 101 ++++++++++++-',
    ' …lder name/logo.png | Bin',
    ' old.ts → new.ts     |   3 -',
    ' 3 files changed, 100 insertions(+), 4 deletions(-)',
  ]);
  expect(diffStat(FILES, { width: null, paint: plain }).split('\n')[1]).toBe(
    ' assets/a very long folder name/logo.png | Bin',
  );
});
