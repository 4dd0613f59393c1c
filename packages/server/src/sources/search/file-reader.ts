import type { Tree } from '../../trees/tree.ts';
import type { Numbered } from './placements.ts';

/** Files whose packs are looked up together. */
const [FIRST_CHUNK, CHUNK, CHUNK_GROWTH] = [256, 4_096, 4];

/** All before is done: files before `index`, and `line` lines of that file. */
export interface Position {
  index: number;
  line: number;
}

/** The files of a source from one on, some at a time. */
export class FileReader {
  /** Where the reading was given up; null: the source's end. */
  rest: Position | null = null;
  readonly #entries: Iterator<[string, Numbered['entry']]>;
  #index = 0;
  #count = FIRST_CHUNK;

  constructor(tree: Tree, from: number) {
    this.#entries = tree.entries();
    for (; this.#index < from; this.#index++) this.#entries.next();
  }

  next(): Numbered[] {
    const files: Numbered[] = [];
    while (this.rest === null && files.length < this.#count) {
      const { done, value } = this.#entries.next();
      if (done) break;
      files.push({ index: this.#index++, path: value[0], entry: value[1] });
    }
    this.#count = Math.min(this.#count * CHUNK_GROWTH, CHUNK);
    return files;
  }

  /** The page will end before this one of the files. */
  giveBack(files: readonly Numbered[], place: number): void {
    this.rest = { index: files[place]!.index, line: 0 };
  }
}
