/** Decisions as they are sent, and what an apply changes, in words. */
import type { ApplyPreview } from '@headrace/client';
import { oneLine } from '../terminal/escape.ts';
import type { Color, Paint } from '../terminal/style.ts';
import { cut } from '../terminal/table.ts';
import type { Decisions, Plan } from './decisions.ts';
import { countOf } from '../terminal/count.ts';

interface View {
  width: number;
  paint: Paint;
}

const SHOWN_FILES = 30;
const STATUS: Readonly<Record<ApplyPreview['changes'][number]['status'], [letter: string, color: Color]>> = {
  added: ['A', 'green'],
  modified: ['M', 'yellow'],
  deleted: ['D', 'red'],
  renamed: ['R', 'cyan'],
  mode: ['X', 'yellow'],
};

export function changesText({ changes }: ApplyPreview, { width, paint }: View): string {
  if (changes.length === 0) return 'It changes no file of the head.';
  const sum = (of: 'additions' | 'deletions') => changes.reduce((all, one) => all + one[of], 0);
  const more = changes.length - SHOWN_FILES;
  return [
    ...changes.slice(0, SHOWN_FILES).map(({ status, path, oldPath, additions, deletions, binary }) => {
      const [letter, color] = STATUS[status];
      const name = oldPath === undefined ? oneLine(path) : `${oneLine(oldPath)} → ${oneLine(path)}`;
      const counts = binary ? 'binary' : `+${additions} -${deletions}`;
      return `  ${paint(color, letter)} ${cut(name, Math.max(16, width - counts.length - 6))}  ${paint('dim', counts)}`;
    }),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    `${countOf(changes.length, 'file')}, ${paint('green', `+${sum('additions')}`)} ${paint('red', `-${sum('deletions')}`)}`,
  ].join('\n');
}

export const conflictsText = ({ conflicts }: ApplyPreview, paint: Paint): string =>
  [
    ...conflicts
      .slice(0, SHOWN_FILES)
      .map(({ path, kind }) => `  ${paint('yellow', 'C')} ${oneLine(path)}  ${paint('dim', kind)}`),
    ...(conflicts.length > SHOWN_FILES ? [`  … and ${conflicts.length - SHOWN_FILES} more`] : []),
  ].join('\n');

/** Exactly what is sent: made from the plan, not from the keys. */
export function summaryOf(plan: Plan, decisions: Decisions, { width, paint }: View): string {
  const { open, mode, changes, resolutions, left } = plan;
  const line = (word: string, color: Color, path: string, more = '') =>
    `  ${paint(color, word.padEnd(5))}  ${cut(oneLine(path), Math.max(16, width - 9 - more.length))}${paint('dim', more)}`;
  const ownOf = (path: string) => {
    const decision = decisions.get(path);
    return typeof decision === 'object' && 'own' in decision ? decision.own : null;
  };
  const lines = [
    ...resolutions.map(({ path, take }) => {
      const own = ownOf(path);
      return own
        ? line('text', 'yellow', path, `  from ${own.from}`)
        : line(take, take === 'head' ? 'cyan' : 'magenta', path);
    }),
    ...(mode === 'agent'
      ? changes.flatMap(({ path }) => (left.includes(path) ? [] : [line('head', 'cyan', path)]))
      : []),
    ...left.map((path) => line('agent', 'blue', path, ownOf(path) ? '  starts with your text' : '')),
    ...open.map((path) => line('open', 'red', path)),
  ];
  return [
    `${countOf(lines.length, 'conflict')}:`,
    ...lines,
    ...(open.length > 0 ? [`${countOf(open.length, 'conflict')} open, so nothing is applied.`] : []),
    ...(open.length === 0 && changes.length > 0
      ? [`An edit puts ${countOf(changes.length, 'file')} into the draft first.`]
      : []),
    ...(open.length === 0 && mode === 'agent'
      ? [
          'An agent repairs what is left to it. It gets no decisions for the draft: it decides these files again.',
        ]
      : []),
  ].join('\n');
}
