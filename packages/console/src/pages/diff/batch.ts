import type { DiffFile } from '../../code/index.ts';

/** The API takes so many paths. */
const FILES = 50;
/** All patches of an answer are at most 8 MiB: so many lines fit as a rule. */
const LINES = 40_000;

/** The first files that fit into one answer; a large one is alone, and so is one of `alone`. */
export function batchOf(files: readonly DiffFile[], alone: ReadonlySet<string>): DiffFile[] {
  const batch: DiffFile[] = [];
  let lines = 0;
  for (const file of files) {
    if (alone.has(file.path)) {
      if (batch.length > 0) continue;
      return [file];
    }
    lines += file.additions + file.deletions;
    if (batch.length === FILES || (lines > LINES && batch.length > 0)) break;
    batch.push(file);
  }
  return batch;
}
