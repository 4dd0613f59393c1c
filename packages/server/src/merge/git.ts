import { mkdirSync } from 'node:fs';
import { GitProcess } from './git-process.ts';
import { writeCommit } from './git-trees.ts';
import { MERGE_TREE, answerOfItself } from './merge-answer.ts';
import { createObjectStore } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';

/** Git over a scratch repository: it reads there only what we wrote. */
export interface Git {
  store: ObjectStore;
  /** Answer of `git merge-tree` for two commits: see merge-answer.ts. */
  mergeTree(head: string, draft: string, limitMs: number): Promise<Buffer>;
  /**
   * Answer of `git diff-tree` for two trees, with renames: see diff-answer.ts. With `identical`, a moved file
   * that was edited too is reported as deleted and added.
   */
  diffTree(from: string, to: string, limitMs: number, renames?: 'similar' | 'identical'): Promise<Buffer>;
  /** The same without renames, line by line as a merge sees it. */
  compareTree(from: string, to: string, limitMs: number): Promise<Buffer>;
  /**
   * Call it after each piece of work, with none under way: drops and remakes a repository over its bounds.
   */
  tidy(): void;
  /** Ends the processes and empties the repository, with no work under way. */
  clear(): void;
  /** Ends the processes and removes the repository. */
  close(): void;
}

const DIFF = [
  'diff-tree',
  '--stdin',
  '-r',
  '--raw',
  '--numstat',
  '-p',
  '-z',
  '--full-index',
  '--no-textconv',
  '--no-ext-diff',
  '--no-color',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
/** As `git diff` does it. */
const FOR_PEOPLE = ['-M50%', '--diff-algorithm=myers'];
const IDENTICAL = ['-M100%', '--diff-algorithm=myers'];
/** As git's merge compares the sides of a file. */
const FOR_MERGES = ['--no-renames', '--diff-algorithm=histogram', '--no-indent-heuristic'];
const DIFF_END = 'end of this diff\n';

/**
 * @param dir a folder for this alone; made where it does not exist. `onSpawn` is called for every process
 * that starts and ends.
 */
export function createGit({
  dir,
  onSpawn,
}: {
  dir: string;
  onSpawn?: (pid: number | undefined, alive: boolean) => void;
}): Git {
  mkdirSync(dir, { recursive: true });
  const store = createObjectStore(dir);
  const common = { gitDir: store.dir, onSpawn };
  const differOf = (args: string[]) =>
    new GitProcess({ ...common, args: [...DIFF, ...args], unbuffered: false });
  const merging = new GitProcess({ ...common, args: MERGE_TREE, unbuffered: true });
  const diffing = differOf(FOR_PEOPLE);
  const identifying = differOf(IDENTICAL);
  const comparing = differOf(FOR_MERGES);
  const stop = (): void => [merging, diffing, identifying, comparing].forEach((git) => git.stop());
  const clear = (): void => {
    stop();
    store.reset();
  };
  const differ =
    (git: GitProcess) =>
    async (from: string, to: string, limitMs: number): Promise<Buffer> => {
      // A line that names no object is echoed, and only then is the output flushed.
      const mark = Buffer.from(DIFF_END);
      store.flush();
      const answer = await git.ask(`${from} ${to}\n${DIFF_END}`, mark, limitMs);
      return answer.subarray(0, answer.length - mark.length);
    };

  return {
    store,
    async mergeTree(head, draft, limitMs) {
      // Merging a commit with itself is clean at once: its answer marks the end of the answer to the first
      // question.
      const tree = store.write('tree', Buffer.alloc(0));
      const end = writeCommit(store, tree, 'end');
      const mark = answerOfItself(tree);
      store.flush();
      const answer = await merging.ask(`${head} ${draft}\n${end} ${end}\n`, mark, limitMs);
      return answer.subarray(0, answer.length - mark.length);
    },
    diffTree: (from, to, limitMs, renames = 'similar') =>
      differ(renames === 'similar' ? diffing : identifying)(from, to, limitMs),
    compareTree: differ(comparing),
    tidy() {
      if (store.isFull()) clear();
    },
    clear,
    close() {
      stop();
      store.remove();
    },
  };
}
