import { describe, expect, test } from 'vitest';
import { diffRows, kindOf, rowOfLine } from './diff-rows.ts';
import type { DiffOptions } from './diff-rows.ts';
import { gitPatches } from './git.fixture.ts';
import { rowText } from './patch.ts';

function show(patch: string, options: Partial<DiffOptions>): string[] {
  const rows = diffRows(patch, { split: false, ignoreSpace: false, ...options });
  const side = (at: number) => (at < 0 ? '' : rowText(rows.patch, at));
  return Array.from({ length: rows.length }, (_, row) => {
    const [left, right] = [rows.left[row]!, rows.right[row]!];
    return `${'@ -+'[kindOf(rows, row)]} ${side(left)}|${side(right)}`;
  });
}

const [patch] = gitPatches({ f: 'a\nb\nc\nd\n' }, { f: 'a\nB\n\tc \nC\nd\n' });

describe('rows', () => {
  test('unified: removed lines, then added ones', () => {
    expect(show(patch!, {}).slice(1)).toEqual(['  a|a', '- b|', '- c|', '+ |B', '+ |\tc ', '+ |C', '  d|d']);
  });

  test('split: beside each other, the longer side alone', () => {
    expect(show(patch!, { split: true }).slice(1)).toEqual(['  a|a', '- b|B', '- c|\tc ', '+ |C', '  d|d']);
  });

  test('lines that differ in white space only are context', () => {
    expect(show(patch!, { ignoreSpace: true }).slice(1)).toEqual([
      '  a|a',
      '- b|',
      '+ |B',
      '  c|\tc ',
      '+ |C',
      '  d|d',
    ]);
    expect(show(patch!, { ignoreSpace: true, split: true }).slice(1)).toEqual([
      '  a|a',
      '- b|B',
      '  c|\tc ',
      '+ |C',
      '  d|d',
    ]);
  });

  test('a hunk without another change is left out', () => {
    const [spaces] = gitPatches({ f: 'a\nb\n' }, { f: 'a \n  b\n' });
    expect(show(spaces!, { ignoreSpace: true })).toEqual([]);
    expect(show(spaces!, {})).toHaveLength(5);
  });

  test('pairs for words do not cross an equal line', () => {
    const rows = diffRows(patch!, { split: false, ignoreSpace: true });
    expect([...rows.mate]).toEqual([-1, -1, 4, -1, 2, -1, -1, -1]);
  });

  test('a row is found by the line of either file', () => {
    const rows = diffRows(patch!, { split: true, ignoreSpace: false });
    expect(rowOfLine(rows, 5, 'new')).toBe(5);
    expect(rowOfLine(rows, 3, 'old')).toBe(3);
    expect(rowOfLine(rows, 50, 'new')).toBe(-1);
  });
});
