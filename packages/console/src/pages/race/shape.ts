/** Where the race is drawn: places and curves, in pixels. The same commands in each curve, so that they can move. */
import { BESIDE } from './layout.ts';
import type { Placed } from './layout.ts';

export const ROW = 36;
const HEAD_X = 18;
/** Between the head and the first lane is room for the marks of what stopped there. */
const STOP_X = HEAD_X + 15;
const FIRST_X = HEAD_X + 31;
const LANE = 14;
const MARGIN = 12;
/** Of what is not drawn: its marks and count. */
const FOLD = 18;

export const headX = HEAD_X;
export const laneX = (lane: number): number => (lane === BESIDE ? STOP_X : FIRST_X + lane * LANE);
export const rowY = (row: number): number => row * ROW + ROW / 2;

/** How wide the margin with the race is. */
export const widthOf = (lanes: number, hasFold: boolean): number =>
  FIRST_X + Math.max(0, lanes - 1) * LANE + MARGIN + (hasFold ? FOLD : 0);

/** The middle of the column for what is not drawn. */
export const foldX = (lanes: number): number => laneX(Math.max(0, lanes - 1)) + FOLD;

/** Where the mark of a strand is: in its lane, or just before the head. Null for one that joined. */
export function markX({ strand, lane, isFolded }: Placed, lanes: number): number | null {
  if (strand.ending === 'joined') return null;
  if (strand.ending !== 'open') return STOP_X;
  return isFolded ? foldX(lanes) : laneX(lane);
}

/** From the base up into the lane, along it, and to its end: the head's line, the place before it, or the mark. */
export function curveOf(placed: Placed): string {
  const { strand, top, bottom, lane } = placed;
  const x = laneX(lane);
  const from = rowY(bottom);
  const to = rowY(top);
  const startX = strand.base === null ? x : HEAD_X;
  const endX = strand.ending === 'joined' ? HEAD_X : strand.ending === 'open' ? x : STOP_X;
  const hasLeft = startX !== x;
  const hasTurn = endX !== x;
  // Both bends share a short way.
  const bend = Math.min(ROW, (from - to) / (hasLeft && hasTurn ? 2 : 1));
  const left = hasLeft ? from - bend : from;
  const turn = hasTurn ? to + bend : to;
  const rise = (from - left) / 2;
  const fall = (turn - to) / 2;
  return [
    `M${startX} ${from}`,
    `C${startX} ${from - rise} ${x} ${left + rise} ${x} ${left}`,
    `L${x} ${turn}`,
    `C${x} ${turn - fall} ${endX} ${to + fall} ${endX} ${to}`,
  ].join('');
}
