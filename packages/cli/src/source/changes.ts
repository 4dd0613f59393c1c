/** Changed files as lines and in words. */
import { shown } from '../terminal/escape.ts';
import type { Color, Paint } from '../terminal/style.ts';

interface Change {
  status: 'added' | 'modified' | 'mode' | 'renamed' | 'deleted';
  path: string;
  oldPath?: string;
}

const LETTERS: Readonly<Record<Change['status'], readonly [letter: string, color: Color]>> = {
  added: ['A', 'green'],
  modified: ['M', 'yellow'],
  mode: ['M', 'yellow'],
  renamed: ['R', 'cyan'],
  deleted: ['D', 'red'],
};

/** `M⇥src/a.ts`, as `git diff --name-status` prints it. */
export function changeLine({ status, path, oldPath }: Change, paint: Paint): string {
  const [letter, color] = LETTERS[status];
  return [paint(color, letter), ...(oldPath === undefined ? [] : [shown(oldPath)]), shown(path)].join('\t');
}

/** `2 added, 1 deleted`. */
export function changeCounts(changes: readonly Change[]): string {
  const count = (...statuses: Change['status'][]) =>
    changes.filter(({ status }) => statuses.includes(status)).length;
  const counts: [number, string][] = [
    [count('added'), 'added'],
    [count('modified', 'mode'), 'modified'],
    [count('renamed'), 'renamed'],
    [count('deleted'), 'deleted'],
  ];
  return counts
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number} ${what}`)
    .join(', ');
}
