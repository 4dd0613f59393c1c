/** The race itself: the head's line, and the threads that leave and join it. Rows beside it say the same in words. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { colourOf } from '../../ui/status.tsx';
import type { Layout, Placed, Row } from './layout.ts';
import { curveOf, foldX, headX, ROW, rowY } from './shape.ts';
import type { Strand } from './strands.ts';
import { lookOf, titleOf } from './words.ts';

const MOVES = '[transition:d_240ms_ease-out,stroke_240ms_ease-out]';
const SHIFTS = '[transition:transform_240ms_ease-out]';

export interface GraphProps {
  appId: string;
  layout: Layout;
  width: number;
  /** The rows in view. */
  from: number;
  to: number;
  lit: string | null;
  onLit: (threadId: string | null) => void;
  summary: string;
  hasMoreHeads: boolean;
  isMoving: boolean;
}

export const Graph = memo(function Graph({ layout, width, from, to, lit, ...props }: GraphProps) {
  const { rows, placed, tip } = layout;
  const height = rows.length * ROW;
  const shown = placed
    .filter(({ isFolded, top, bottom }) => !isFolded && top <= to && bottom >= from)
    .toSorted((a, b) => rank(a, lit) - rank(b, lit) || b.lane - a.lane);
  return (
    <svg
      role="img"
      aria-label={props.summary}
      width={width}
      height={height}
      className="pointer-events-none absolute top-0 left-0"
    >
      <Bundle layout={layout} />
      <g fill="none" strokeLinecap="round" aria-hidden>
        {shown.map((one) => (
          <path
            key={one.strand.threadId}
            d={curveOf(one)}
            className={`${toneOf(one.strand)} ${props.isMoving ? MOVES : ''}`}
            stroke="currentColor"
            strokeWidth={one.strand.threadId === lit ? 2.5 : 1.5}
            strokeOpacity={
              lit === null || one.strand.threadId === lit ? (one.strand.ending === 'joined' ? 0.75 : 1) : 0.35
            }
          />
        ))}
      </g>
      <g aria-hidden>
        {rows.slice(from, to + 1).map((row, i) => (
          <g
            key={row.key}
            className={props.isMoving ? SHIFTS : ''}
            style={{ transform: `translateY(${rowY(from + i)}px)` }}
          >
            <HeadPart
              row={row}
              isLast={from + i === rows.length - 1}
              hasMore={props.hasMoreHeads}
              isAboveTip={from + i < tip}
            />
          </g>
        ))}
      </g>
    </svg>
  );
});

/** The open threads that are not drawn, as one dotted line through their marks. */
function Bundle({ layout: { placed, lanes, tip } }: { layout: Layout }) {
  const tops = placed.flatMap(({ isFolded, top, strand }) =>
    isFolded && strand.ending === 'open' ? [top] : [],
  );
  if (tops.length === 0) return null;
  const x = foldX(lanes);
  return (
    <line
      aria-hidden
      x1={x}
      x2={x}
      y1={rowY(Math.min(...tops))}
      y2={rowY(tip) - ROW / 4}
      className="stroke-strong"
      strokeWidth={1.5}
      strokeDasharray="0.1 5"
      strokeLinecap="round"
    />
  );
}

/** The head's line from this row to the one below, and its revision. */
function HeadPart({
  row,
  isLast,
  hasMore,
  isAboveTip,
}: {
  row: Row;
  isLast: boolean;
  hasMore: boolean;
  isAboveTip: boolean;
}) {
  if (row.kind === 'thread')
    return row.strand.ending === 'open' || !isAboveTip ? null : (
      <line
        x1={headX}
        x2={headX}
        y1={0}
        y2={ROW}
        className="stroke-strong"
        strokeWidth={1.5}
        strokeDasharray="1.5 4.5"
        strokeLinecap="round"
      />
    );
  const end = isLast ? (hasMore ? ROW / 2 : 0) : ROW;
  return (
    <>
      <line
        x1={headX}
        x2={headX}
        y1={0}
        y2={end}
        className="stroke-water"
        strokeWidth={2}
        {...((row.hasGap || (isLast && hasMore)) && { strokeDasharray: '2 4' })}
      />
      {row.isTip ? (
        <circle cx={headX} r={5.5} className="fill-water stroke-paper" strokeWidth={2} />
      ) : (
        <circle cx={headX} r={3.5} className="fill-paper stroke-water" strokeWidth={2} />
      )}
    </>
  );
}

const rank = ({ strand }: Placed, lit: string | null) =>
  strand.threadId === lit ? 2 : strand.ending === 'joined' ? 0 : 1;

/** Water for what flows, ink for what rests. */
function toneOf({ ending, status }: Strand): string {
  if (ending === 'joined' || ending === 'queue') return 'text-water';
  if (status === 'ready' || status === 'archived') return 'text-ink-3';
  return colourOf(lookOf(status).status);
}

/** Over the rows: a thread's line can be pointed at where it passes. By keyboard, its row is the link. */
export const Hits = memo(function Hits({ appId, layout, width, from, to, onLit }: GraphProps) {
  const shown = layout.placed.filter(({ isFolded, top, bottom }) => !isFolded && top <= to && bottom >= from);
  return (
    <svg
      aria-hidden
      width={width}
      height={layout.rows.length * ROW}
      className="pointer-events-none absolute top-0 left-0"
    >
      {shown.map((one) => (
        <Link
          key={one.strand.threadId}
          to="/apps/$appId/threads/$threadId"
          params={{ appId, threadId: one.strand.threadId }}
          tabIndex={-1}
          onMouseEnter={() => onLit(one.strand.threadId)}
          onMouseLeave={() => onLit(null)}
        >
          <path
            d={curveOf(one)}
            fill="none"
            stroke="transparent"
            strokeWidth={10}
            style={{ pointerEvents: 'stroke' }}
          >
            <title>{`${titleOf(one.strand)}: ${lookOf(one.strand.status).word}`}</title>
          </path>
        </Link>
      ))}
    </svg>
  );
});
