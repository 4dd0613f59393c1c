import type { LineRange } from '../../code/index.ts';

/** `L=12-20` and `side=old` of an address; null without lines. */
export function linesOfSearch(lines: string | undefined, side: 'old' | undefined): LineRange | null {
  if (lines === undefined) return null;
  const [from, to] = lines.split('-').map(Number) as [number, number | undefined];
  return { from: Math.min(from, to ?? from), to: Math.max(from, to ?? from), side: side ?? 'new' };
}

/** The address's part for these lines. */
export function searchOfLines({ from, to, side }: LineRange): { L: string; side: 'old' | undefined } {
  return { L: from === to ? String(from) : `${from}-${to}`, side: side === 'old' ? 'old' : undefined };
}
