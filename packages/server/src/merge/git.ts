import { mkdirSync } from 'node:fs';
import { GitProcess } from './git-process.ts';
import { writeCommit } from './git-trees.ts';
import { MERGE_TREE, answerOfItself } from './merge-answer.ts';
import { createObjectStore } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';

/** How two trees are compared. */
export interface DiffHow {
  /** `identical` reports a file that was moved and edited as deleted and added; `none` does so for every moved file. */
  renames: 'similar' | 'identical' | 'none';
  /** Only names, names and line counts, or everything with patches. */
  show: 'names' | 'counts' | 'patches';
}

/** Git over a scratch repository: it reads there only what we wrote. */
export interface Git {
  store: ObjectStore;
  /** Answer of `git merge-tree` for two commits: see merge-answer.ts. */
  mergeTree(head: string, draft: string, limitMs: number): Promise<Buffer>;
  /** Answer of `git diff-tree` for two trees: see diff-answer.ts. */
  diffTree(from: string, to: string, limitMs: number, how?: DiffHow): Promise<Buffer>;
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
  '-z',
  '--full-index',
  '--no-textconv',
  '--no-ext-diff',
  '--no-color',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
/** As `git diff` does it, unless asked otherwise. */
const FOR_PEOPLE: DiffHow = { renames: 'similar', show: 'patches' };
const RENAMES = { similar: '-M50%', identical: '-M100%', none: '--no-renames' };
const SHOW = { names: ['--raw'], counts: ['--raw', '--numstat'], patches: ['--raw', '--numstat', '-p'] };
/** As git's merge compares the sides of a file. */
const FOR_MERGES = [...SHOW.patches, '--no-renames', '--diff-algorithm=histogram', '--no-indent-heuristic'];
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
  const comparing = differOf(FOR_MERGES);
  /** One for each requested kind of comparison. */
  const diffing = new Map<string, GitProcess>();
  const diffingBy = ({ renames, show }: DiffHow): GitProcess => {
    const args = [...SHOW[show], RENAMES[renames], '--diff-algorithm=myers'];
    const key = args.join(' ');
    if (!diffing.has(key)) diffing.set(key, differOf(args));
    return diffing.get(key)!;
  };
  const stop = (): void => [merging, comparing, ...diffing.values()].forEach((git) => git.stop());
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
    diffTree: (from, to, limitMs, how = FOR_PEOPLE) => differ(diffingBy(how))(from, to, limitMs),
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
