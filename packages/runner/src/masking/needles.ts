/**
 * Many texts that are searched for at once: an Aho-Corasick automaton in typed arrays. A node is a text's
 * beginning; node 0 is the empty one. 64 KiB of secrets make about a million nodes, of 20 bytes each; an object
 * for each would take ten times as much.
 */
import { SHORTEST } from './forms.ts';

const ROOT = 0;
/** Texts with equal hashes of their pairs only cost a look: pairs of Latin characters all have their own. */
const PAIRS = 0x10000;
const pairOf = (first: number, second: number): number => ((first << 8) ^ second) & (PAIRS - 1);
/** How far a search may jump: a needle that begins on the way covers the pair at its end. */
const JUMP = SHORTEST - 1;

export class Needles {
  /** The number of characters of a node's text. */
  readonly depth: Int32Array;
  /** The node of the longest proper ending of a node's text that is a node. */
  readonly fail: Int32Array;
  /** The longest needle that a node's text ends with, as a node; 0: none. */
  readonly ending: Int32Array;
  readonly #label: Uint16Array;
  /** The child that was made first; 0: none. */
  readonly #child: Int32Array;
  /** Further children: node and character → node. */
  readonly #forks = new Map<number, number>();
  readonly #isFork: Uint8Array;
  /** The pairs of characters in the first 8 of each needle. */
  readonly #pairs = new Uint8Array(PAIRS);
  #count = 1;

  /** Each needle has at least 8 UTF-16 units. */
  constructor(needles: readonly string[]) {
    const most = 1 + needles.reduce((sum, needle) => sum + needle.length, 0);
    this.depth = new Int32Array(most);
    this.fail = new Int32Array(most);
    this.ending = new Int32Array(most);
    this.#label = new Uint16Array(most);
    this.#child = new Int32Array(most);
    this.#isFork = new Uint8Array(most);
    const parent = new Int32Array(most);
    for (const needle of needles) this.#add(needle, parent);
    this.#link(parent);
  }

  /** The node after one more character. */
  step(node: number, code: number): number {
    for (let at = node; ; at = this.fail[at]!) {
      const next = this.#childOf(at, code);
      if (next !== ROOT || at === ROOT) return next;
    }
  }

  /** Whether no needle goes on after this node's text. */
  isLeaf(node: number): boolean {
    return this.#child[node] === ROOT;
  }

  /** The first place from `at` on where a needle may begin; the last characters of a text are always such places. */
  skip(text: string, at: number): number {
    const last = text.length - JUMP;
    let place = at;
    while (
      place < last &&
      this.#pairs[pairOf(text.charCodeAt(place + JUMP - 1), text.charCodeAt(place + JUMP))] === 0
    )
      place += JUMP;
    return place;
  }

  #childOf(node: number, code: number): number {
    const child = this.#child[node]!;
    if (child === ROOT || this.#label[child] === code) return child;
    return this.#isFork[node] === 1 ? (this.#forks.get(keyOf(node, code)) ?? ROOT) : ROOT;
  }

  #add(needle: string, parent: Int32Array): void {
    let node = ROOT;
    for (let i = 0; i < needle.length; i++) {
      const code = needle.charCodeAt(i);
      if (i < JUMP) this.#pairs[pairOf(code, needle.charCodeAt(i + 1))] = 1;
      let next = this.#childOf(node, code);
      if (next === ROOT) {
        next = this.#count++;
        this.#label[next] = code;
        this.depth[next] = i + 1;
        parent[next] = node;
        if (this.#child[node] === ROOT) this.#child[node] = next;
        else {
          this.#isFork[node] = 1;
          this.#forks.set(keyOf(node, code), next);
        }
      }
      node = next;
    }
    this.ending[node] = node;
  }

  /** Sets `fail` and `ending`, of shorter texts first. */
  #link(parent: Int32Array): void {
    for (const node of this.#byDepth()) {
      if (this.depth[node]! > 1) this.fail[node] = this.step(this.fail[parent[node]!]!, this.#label[node]!);
      if (this.ending[node] === 0) this.ending[node] = this.ending[this.fail[node]!]!;
    }
  }

  /** All nodes but the root. */
  #byDepth(): Int32Array {
    const places = new Int32Array(this.depth.reduce((most, depth) => Math.max(most, depth), 0) + 2);
    for (let node = 1; node < this.#count; node++) places[this.depth[node]! + 1]!++;
    for (let depth = 1; depth < places.length; depth++) places[depth]! += places[depth - 1]!;
    const sorted = new Int32Array(this.#count - 1);
    for (let node = 1; node < this.#count; node++) sorted[places[this.depth[node]!]!++] = node;
    return sorted;
  }
}

const keyOf = (node: number, code: number): number => node * 0x10000 + code;
