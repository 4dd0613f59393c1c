import { useEffect, useRef } from 'react';
import type { FocusEvent, FocusEventHandler } from 'react';

/**
 * For a part whose rows or buttons go once they have done their work, spread on its element: the focus that went with
 * one is given to the row in its place, else to the heading of the section. The caller is what draws the rows.
 */
export function useKeptFocus(): { onFocus: FocusEventHandler<HTMLElement> } {
  const had = useRef<{ element: Element; part: HTMLElement; row: number } | null>(null);
  useEffect(() => {
    const lost = had.current;
    if (!lost || lost.element.isConnected) return;
    // In the next frame: a dialog that closes gives the focus back first.
    const frame = requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      had.current = null;
      placeOf(lost)?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  });
  return {
    onFocus: ({ target, currentTarget }: FocusEvent<HTMLElement>) => {
      // What is over the page is no child of the part, though React says so.
      if (!currentTarget.contains(target)) return;
      const row = rowsOf(currentTarget).findIndex((one) => one.contains(target));
      had.current = { element: target, part: currentTarget, row };
    },
  };
}

const rowsOf = (part: HTMLElement) => [...part.querySelectorAll<HTMLElement>('li')];

function placeOf({ part, row }: { part: HTMLElement; row: number }): HTMLElement | null | undefined {
  const rows = rowsOf(part);
  const next = row === -1 ? undefined : (rows[row] ?? rows.at(-1));
  return (
    next?.querySelector<HTMLElement>('[data-row]') ??
    next?.querySelector<HTMLElement>('a, button') ??
    (part.closest('section') ?? part).querySelector<HTMLElement>('h2')
  );
}
