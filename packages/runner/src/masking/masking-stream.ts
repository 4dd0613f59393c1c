/**
 * Replaces needles in a text that arrives in pieces: from left to right, at each place the longest, as
 * `replaceAll` with all of them would in the whole text. What may be the beginning of a needle waits. Linear in
 * the text; each piece also costs what waits, which is at most the longest needle.
 *
 * Of needles that are endings of one another, a few are looked at. Where these overlap what was found before, all
 * of the text up to there is replaced: more than `replaceAll` would, never less.
 *
 *   given out | held: ... found, open ... | not yet arrived
 *                          ^ the longest text that may still become a needle begins here
 */
import type { Needles } from './needles.ts';

interface Found {
  start: number;
  end: number;
  /** Where the replaced text ends: at `end`, or behind it. */
  cover: number;
}

/** How many of the needles that end at one place are looked at. */
const LOOKS = 16;

export class MaskingStream {
  readonly #needles: Needles;
  readonly #mask: string;
  /** Text that was not given out; places count from its beginning. */
  #held = '';
  /** What is replaced as far as is known, in order; a longer or earlier needle may still take its place. */
  #found: Found[] = [];
  /** How many of these are certain: nothing that begins as early can follow. */
  #certain = 0;
  #node = 0;
  /** How much of the held text is replaced already. */
  #covered = 0;
  /** Whether any needle was found. */
  hasFound = false;

  constructor(needles: Needles, mask: string) {
    this.#needles = needles;
    this.#mask = mask;
  }

  /** Takes the next piece; returns the text that is certain now. */
  push(piece: string): string {
    const text = this.#held + piece;
    this.#search(text, this.#held.length);
    return this.#give(text, text.length - this.#needles.depth[this.#node]!);
  }

  /** The rest, once nothing follows. */
  end(): string {
    const text = this.#held;
    this.#certain = this.#found.length;
    this.#node = 0;
    return this.#give(text, text.length);
  }

  #search(text: string, from: number): void {
    const needles = this.#needles;
    const { ending } = needles;
    let node = this.#node;
    for (let i = from; i < text.length; i++) {
      if (node === 0) i = needles.skip(text, i);
      node = needles.step(node, text.charCodeAt(i));
      if (ending[node] !== 0) this.#note(node, i + 1);
      while (node !== 0 && needles.isLeaf(node)) node = needles.fail[node]!;
      if (this.#certain < this.#found.length) node = this.#settle(node, i + 1);
    }
    this.#node = node;
  }

  /** Notes the longest of the needles that end here and do not begin within what was found before. */
  #note(node: number, end: number): void {
    const { depth, fail, ending } = this.#needles;
    const found = this.#found;
    this.hasFound = true;
    let looks = 0;
    // Of those that end at one place, a shorter one begins later.
    for (let needle = ending[node]!; needle !== 0; needle = ending[fail[needle]!]!) {
      const start = end - depth[needle]!;
      const last = this.#lastBefore(start);
      if (last < 0 || found[last]!.end <= start) {
        found.length = last + 1;
        found.push({ start, end, cover: end });
        return;
      }
      if (++looks < LOOKS) continue;
      found.length = last + 1;
      found[last]!.cover = end;
      return;
    }
  }

  /** The index of the last one found that begins before a place; -1: none. */
  #lastBefore(start: number): number {
    let low = 0,
      high = this.#found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#found[middle]!.start < start) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * Makes certain what nothing can take the place of, now that the text up to `end` was read. Returns the node
   * without what would begin within it.
   */
  #settle(node: number, end: number): number {
    const { depth, fail } = this.#needles;
    let rest = node;
    for (; this.#certain < this.#found.length; this.#certain++) {
      const found = this.#found[this.#certain]!;
      if (found.start >= end - depth[rest]!) break;
      while (depth[rest]! > end - found.end) rest = fail[rest]!;
    }
    return rest;
  }

  #give(text: string, upTo: number): string {
    let out = '',
      at = this.#covered;
    for (const { start, cover } of this.#found.splice(0, this.#certain)) {
      out += text.slice(at, start) + this.#mask;
      at = Math.max(at, cover);
    }
    out += text.slice(at, upTo);
    this.#certain = 0;
    this.#covered = Math.max(0, at - upTo);
    for (const found of this.#found) {
      found.start -= upTo;
      found.end -= upTo;
      found.cover -= upTo;
    }
    this.#held = text.slice(upTo);
    return out;
  }
}
