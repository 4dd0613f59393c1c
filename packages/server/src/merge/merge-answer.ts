import type { GitFile } from './git-trees.ts';

/**
 * The command that answers many merges, a line `<head> <draft>` of commits each. It prints messages also for
 * merges that it calls clean.
 */
export const MERGE_TREE = ['merge-tree', '--write-tree', '--messages', '--stdin'];

/**
 * The answer for a commit of this tree with itself: where no other commit has the tree, it ends what came
 * before.
 */
export const answerOfItself = (tree: string): Buffer => Buffer.from(`1\0${tree}\0\0\0`);

const FILE_IN_THE_WAY = 'CONFLICT (file/directory)';

/** Git's answer to one merge. */
export interface MergeAnswer {
  /**
   * Git's own verdict, and no conflict in its messages, except a file in a folder's way: git reports that
   * also when the file is gone in the end. Git 2.39 calls a merge clean in which one side moved and edited a
   * file, and the other edited it in the same place and added the very same file at the new place: its
   * markers stay in the result, or one edit is lost.
   */
  clean: boolean;
  tree: string;
  /** Each file in conflict by path, as far as git names one: 1 base, 2 head, 3 draft. */
  stages: Map<string, Partial<Record<'1' | '2' | '3', GitFile>>>;
  messages: { paths: string[]; type: string }[];
}

/**
 * `<1|0> NUL <tree> NUL`, then `<mode> <oid> <stage>TAB<path> NUL` per stage, an empty field, then messages
 * of `<n> NUL <path> NUL … <type> NUL <text> NUL`, an empty field. @param made takes away what git adds to
 * a name that it makes up (`d~<commit>`).
 */
export function parseMergeAnswer(answer: Buffer, made: (path: string) => string): MergeAnswer {
  const fields = answer.toString('utf8').split('\0');
  const parsed: MergeAnswer = {
    clean: fields[0] === '1',
    tree: fields[1] ?? '',
    stages: new Map(),
    messages: [],
  };
  let at = 2;
  for (; fields[at]; at++) {
    const [, mode, oid, stage, name] = /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(fields[at]!) ?? [];
    if (!name || !oid) throw new Error('git merge-tree answered in an unknown form');
    const path = made(name);
    const stages = parsed.stages.get(path) ?? {};
    stages[stage as '1' | '2' | '3'] = { oid, executable: mode === '100755' };
    parsed.stages.set(path, stages);
  }
  for (at++; fields[at]; at += 2) {
    const count = Number(fields[at]);
    const paths = fields.slice(at + 1, at + 1 + count).map(made);
    at += 1 + count;
    parsed.messages.push({ paths, type: fields[at] ?? '' });
  }
  if (parsed.messages.some(({ type }) => type.startsWith('CONFLICT') && type !== FILE_IN_THE_WAY))
    parsed.clean = false;
  if (!/^[0-9a-f]{40,}$/.test(parsed.tree)) throw new Error('git merge-tree answered in an unknown form');
  return parsed;
}

/**
 * Names that git makes up for the files of these commits end in `~<commit>`, and `_<n>` where that is
 * taken.
 */
export function withoutMadeUpNames(commits: string[]): (path: string) => string {
  const suffix = new RegExp(`~(${commits.join('|')})(_\\d+)?$`);
  return (path) => path.replace(suffix, '');
}
