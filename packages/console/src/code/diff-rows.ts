/**
 * What a diff shows of a patch, for unified and split alike: each row has a left and a right row of the patch,
 * -1 where a side is empty. Context has the same on both; in a unified diff a changed row has one side only.
 */
import { ADDED, CONTEXT, HUNK, REMOVED, parsePatch, rowText } from './patch.ts';
import type { Patch } from './patch.ts';

export interface DiffOptions {
  split: boolean;
  /** Pairs of lines that differ in white space only are context. */
  ignoreSpace: boolean;
}

export interface DiffRows {
  patch: Patch;
  length: number;
  left: Int32Array;
  right: Int32Array;
  /** For each row of the patch, the removed or added one that it is compared with; -1 without one. */
  mate: Int32Array;
}

/** Rows of `text`, a patch of one file. */
export function diffRows(text: string, options: DiffOptions): DiffRows {
  const patch = parsePatch(text);
  const rows: DiffRows = {
    patch,
    length: 0,
    left: new Int32Array(patch.length),
    right: new Int32Array(patch.length),
    mate: new Int32Array(patch.length).fill(-1),
  };
  for (let hunk = 0; hunk < patch.length;) {
    const end = nextHunk(patch, hunk);
    const before = rows.length;
    add(rows, hunk, hunk);
    const changed = addHunk(rows, hunk + 1, end, options);
    if (!changed && options.ignoreSpace) rows.length = before;
    hunk = end;
  }
  return rows;
}

/** Kind of a row: `HUNK`, `CONTEXT`, `REMOVED` or `ADDED`; of a split row with both sides changed, `REMOVED`. */
export function kindOf(rows: DiffRows, index: number): number {
  const left = rows.left[index]!;
  const right = rows.right[index]!;
  if (left < 0) return rows.patch.kind[right]!;
  // Two rows of a patch beside each other that are no change are lines that differ in white space only.
  if (right >= 0 && left !== right && rows.mate[left] !== right) return CONTEXT;
  return rows.patch.kind[left]!;
}

/** The row that shows a line of the new (or old) file; -1 if none does. */
export function rowOfLine(rows: DiffRows, line: number, side: 'new' | 'old'): number {
  for (let index = 0; index < rows.length; index++) {
    const at = side === 'new' ? rows.right[index]! : rows.left[index]!;
    if (at < 0 || rows.patch.kind[at] === HUNK) continue;
    if ((side === 'new' ? rows.patch.newLine : rows.patch.oldLine)[at] === line) return index;
  }
  return -1;
}

function nextHunk(patch: Patch, from: number): number {
  let end = from + 1;
  while (end < patch.length && patch.kind[end] !== HUNK) end++;
  return end;
}

function addHunk(rows: DiffRows, from: number, end: number, options: DiffOptions): boolean {
  const { kind } = rows.patch;
  let changed = false;
  for (let at = from; at < end;) {
    if (kind[at] === CONTEXT) {
      add(rows, at, at);
      at++;
      continue;
    }
    const removed = at;
    while (at < end && kind[at] === REMOVED) at++;
    const added = at;
    while (at < end && kind[at] === ADDED) at++;
    const equal = options.ignoreSpace ? equalPairs(rows.patch, [removed, added, at]) : [];
    changed = addBlock(rows, [removed, added, at], equal, options.split) || changed;
  }
  return changed;
}

type Block = [removed: number, added: number, end: number];

/** Rows of a block of removed and added lines, with pairs of lines that count as equal between its parts. */
function addBlock(rows: DiffRows, block: Block, equal: [number, number][], split: boolean): boolean {
  let [left, right] = [block[0], block[1]];
  let changed = false;
  for (const [nextLeft, nextRight] of [...equal, [block[1], block[2]] as [number, number]]) {
    const pairs = Math.max(nextLeft - left, nextRight - right);
    changed ||= pairs > 0;
    for (let step = 0; step < Math.min(nextLeft - left, nextRight - right); step++) {
      rows.mate[left + step] = right + step;
      rows.mate[right + step] = left + step;
    }
    if (split) {
      for (let step = 0; step < pairs; step++)
        add(rows, left + step < nextLeft ? left + step : -1, right + step < nextRight ? right + step : -1);
    } else {
      for (let at = left; at < nextLeft; at++) add(rows, at, -1);
      for (let at = right; at < nextRight; at++) add(rows, -1, at);
    }
    if (nextLeft < block[1] && nextRight < block[2]) add(rows, nextLeft, nextRight);
    [left, right] = [nextLeft + 1, nextRight + 1];
  }
  return changed;
}

/** Pairs in order, each removed line with the next added one that is equal but for white space. */
function equalPairs(patch: Patch, [removed, added, end]: Block): [number, number][] {
  const places = new Map<string, number[]>();
  for (let at = end - 1; at >= added; at--) {
    const key = squeeze(rowText(patch, at));
    const list = places.get(key);
    if (list === undefined) places.set(key, [at]);
    else list.push(at);
  }
  const pairs: [number, number][] = [];
  let after = added;
  for (let at = removed; at < added; at++) {
    const list = places.get(squeeze(rowText(patch, at))) ?? [];
    let found = list.pop();
    while (found !== undefined && found < after) found = list.pop();
    if (found === undefined) continue;
    pairs.push([at, found]);
    after = found + 1;
  }
  return pairs;
}

function squeeze(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function add(rows: DiffRows, left: number, right: number): void {
  rows.left[rows.length] = left;
  rows.right[rows.length] = right;
  rows.length++;
}
