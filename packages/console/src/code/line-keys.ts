/** Lines by the keyboard: a shown file, or a diff, is one tab stop, in which the arrows move a current line. */
import type { KeyboardEvent } from 'react';
import { useKeys } from '../ui/keys.ts';
import { ROW } from './heights.ts';

/** Not for what is within, nor for the browser. */
const isOwn = ({ target, currentTarget, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  target === currentTarget && !ctrlKey && !metaKey && !altKey;

/** Rows that a key moves the current line by; 0 for other keys. */
export function stepOf(event: KeyboardEvent<HTMLElement>): number {
  if (!isOwn(event)) return 0;
  const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW) - 2);
  return { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key] ?? 0;
}

/** Whether a key selects the current line. */
export const isSelect = (event: KeyboardEvent): boolean =>
  isOwn(event) && (event.key === 'Enter' || event.key === ' ');

/** Lines from one to another, in either direction. */
export const linesBetween = (one: number, other: number): { from: number; to: number } => ({
  from: Math.min(one, other),
  to: Math.max(one, other),
});

/** Scrolls no more than it takes to see a row. `head` pixels at the top are covered. */
export function showRow(
  scroller: HTMLElement,
  { top, bottom, head = 0 }: Record<'top' | 'bottom', number> & { head?: number },
): void {
  const { scrollTop, clientHeight } = scroller;
  if (top - head < scrollTop) scroller.scrollTop = top - head;
  else if (bottom > scrollTop + clientHeight) scroller.scrollTop = bottom - clientHeight;
}

/** Names the keys of lines in the list of keys; the rows themselves listen to them. */
export const useLineKeys = (isOn = true): void =>
  useKeys(
    isOn
      ? [
          { keys: '↑ ↓', does: 'In code: the line before or after' },
          { keys: '↵', does: 'In code: select the line, for its link' },
          { keys: 'Shift ↑ ↓', does: 'In code: select more lines' },
        ]
      : [],
  );
