/** What the service said about patches so far. */
import { bodyOf } from '../../code/diff-list.ts';
import type { DiffFile } from '../../code/index.ts';

export interface Answers {
  found: ReadonlyMap<string, DiffFile>;
  problems: ReadonlyMap<string, string>;
  /** Whether there was an answer, or a failure. */
  hasBegun: boolean;
}

/** What one call said, or why it failed. */
export interface Answer {
  /** That were asked for. */
  paths: string[];
  files: DiffFile[];
  problem: string | null;
}

export const NOTHING: Answers = { found: new Map(), problems: new Map(), hasBegun: false };

/** With an answer; a file that is cut beside others is to be asked for again. */
export function merge(last: Answers, answer: Answer, isCut: (file: DiffFile) => boolean): Answers {
  const found = new Map(last.found);
  for (const file of answer.files) if (!isCut(file)) found.set(file.path, file);
  const problems = new Map(last.problems);
  const settled = new Set(answer.files.filter((file) => bodyOf(file) !== 'missing').map(({ path }) => path));
  for (const path of answer.paths)
    if (settled.has(path)) problems.delete(path);
    // Without one, a file that is never answered would be asked for with each render.
    else problems.set(path, answer.problem ?? 'The service gave no patch for it.');
  return { found, problems, hasBegun: true };
}

/** As if a file had not failed. */
export function without(last: Answers, path: string): Answers {
  const problems = new Map(last.problems);
  problems.delete(path);
  return { ...last, problems };
}
