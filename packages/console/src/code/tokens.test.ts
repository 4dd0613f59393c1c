import { expect, test } from 'vitest';
import { languageOf } from './language.ts';
import { CLASSES } from './limits.ts';
import { lineOf, lineStarts } from './lines.ts';
import { highlight } from './tokens.ts';

async function show(path: string, text: string): Promise<string[]> {
  const found = (await highlight(text, languageOf(path)!, 500))!;
  const starts = lineStarts(text);
  return Array.from({ length: starts.length }, (_, line) => {
    const pieces: string[] = [];
    for (let span = found.lines[line]!; span < found.lines[line + 1]!; span++) {
      const [from, to, kind] = found.spans.subarray(span * 3, span * 3 + 3);
      pieces.push(`${CLASSES[kind!]!.slice(4)}:${lineOf(text, starts, line).slice(from, to)}`);
    }
    return pieces.join(' ');
  });
}

test('a comment over lines is a piece in each', async () => {
  expect(await show('a.ts', 'const a: number = 1; /* one\n\ntwo */ "x"')).toEqual([
    'keyword:const type:number number:1 comment:/* one',
    '',
    'comment:two */ string:"x"',
  ]);
});

test.each([
  ['a.tsx', '<Box size={1}>text</Box>', 'type:Box'],
  ['a.py', 'def f(x): return None', 'keyword:def'],
  ['a.rs', 'fn main() {}', 'keyword:fn'],
  ['a.go', 'package main', 'keyword:package'],
  ['a.java', 'class A {}', 'keyword:class'],
  ['a.c', 'return 1;', 'keyword:return'],
  ['a.php', '<p><?php echo 1; ?></p>', 'keyword:echo'],
  ['a.html', '<script>let a</script>', 'keyword:let'],
  ['a.css', 'a { color: #fff }', 'number:#fff'],
  ['a.scss', '$a: 1px;', 'number:1'],
  ['a.sass', 'a\n  color: red', 'type:a'],
  ['a.json', '{"a": 1}', 'number:1'],
  ['a.yaml', 'a: "b"', 'string:"b"'],
  ['a.xml', '<a b="c"/>', 'string:"c"'],
  ['a.md', '# Title', 'strong:'],
])('%s', async (path, text, piece) => {
  expect((await show(path, text)).join(' ')).toContain(piece);
});

test('large texts and long lines stay plain; an unknown ending has no language', async () => {
  expect(await highlight('let a\n'.repeat(100_000), 'javascript', 500)).toBeNull();
  expect(await highlight('a'.repeat(30_000), 'javascript', 500)).toBeNull();
  expect([languageOf('a.bin'), languageOf('Makefile')]).toEqual([null, null]);
});

test('highlighting ends in time', async () => {
  const text = 'let a = 1;\n'.repeat(40_000);
  const started = performance.now();
  const found = (await highlight(text, 'javascript', 20))!;
  expect(performance.now() - started).toBeLessThan(5000);
  expect(found.lines.length).toBe(lineStarts(text).length + 1);
  expect(found.spans.length).toBeLessThan(40_000 * 6);
});
