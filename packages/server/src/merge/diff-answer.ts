import type { DiffHow } from './git.ts';

/**
 * One file of a `git diff-tree` answer. `patch` is the whole patch in git's bytes, also where it has no
 * hunk.
 */
export interface DiffAnswer {
  status: string;
  path: string;
  oldPath: string | undefined;
  oldMode: string;
  newMode: string;
  oldOid: string;
  newOid: string;
  binary: boolean;
  additions: number;
  deletions: number;
  patch: Buffer;
}

const HEADER = Buffer.from('\ndiff --git ');

/**
 * `--raw --numstat -p -z` of two trees: a line with their ids, raw rows, numstat rows, an empty field,
 * patches in the same order. Counts and patches are missing unless requested (`show`).
 */
export function parseDiffAnswer(answer: Buffer, show: DiffHow['show'] = 'patches'): DiffAnswer[] {
  let at = answer.indexOf(10) + 1;
  const field = (): string => {
    const end = answer.indexOf(0, at);
    if (end === -1) throw new Error('git diff-tree answered in an unknown form');
    const text = answer.toString('utf8', at, end);
    at = end + 1;
    return text;
  };
  const files: DiffAnswer[] = [];
  while (answer[at] === 0x3a) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = '', status = ''] = field().slice(1).split(' ');
    const first = field();
    const renamed = status.startsWith('R');
    files.push({
      status: status.slice(0, 1),
      path: renamed ? field() : first,
      oldPath: renamed ? first : undefined,
      oldMode,
      newMode,
      oldOid,
      newOid,
      binary: false,
      additions: 0,
      deletions: 0,
      patch: Buffer.alloc(0),
    });
  }
  if (show === 'names') return files;
  for (const file of files) {
    const [additions = '', deletions = ''] = field().split('\t');
    if (file.oldPath !== undefined) at = answer.indexOf(0, answer.indexOf(0, at) + 1) + 1;
    file.binary = additions === '-';
    file.additions = Number(additions) || 0;
    file.deletions = Number(deletions) || 0;
  }
  if (files.length === 0 || show === 'counts') return files;
  const patches = splitPatches(answer.subarray(at + 1));
  if (patches.length !== files.length)
    throw new Error('git diff-tree answered with other patches than files');
  files.forEach((file, i) => {
    file.patch = patches[i]!;
  });
  return files;
}

/** A line of a file never begins with `diff --git` in a patch: it has a sign before it. */
function splitPatches(patches: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < patches.length;) {
    const next = patches.indexOf(HEADER, from);
    const end = next === -1 ? patches.length : next + 1;
    parts.push(patches.subarray(from, end));
    from = end;
  }
  return parts;
}
