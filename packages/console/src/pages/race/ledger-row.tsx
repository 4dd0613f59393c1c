/** A row of the ledger. Its title is a link over the whole row; the other links are above that. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { ForkMark, HeadMark, Status } from '../../ui/status.tsx';
import { PullRequestMark } from '../pull-requests/marks.tsx';
import { Time } from '../../ui/values.tsx';
import { Plain } from '../../code/plain.tsx';
import type { NameOfHead } from './head-names.ts';
import type { Placed, Row } from './layout.ts';
import { foldX, markX, ROW } from './shape.ts';
import type { Strand } from './strands.ts';
import { lookOf, moverOf, noteOf, titleOf } from './words.ts';

/** More are not told apart, and have no room. */
const MOST_SAID = 99;
const OVER_ROW = 'after:absolute after:inset-0';
/** The row shows the focus of its link. */
const FOCUS =
  'has-[[data-row]:focus-visible]:outline-2 has-[[data-row]:focus-visible]:-outline-offset-2 has-[[data-row]:focus-visible]:outline-water';

export interface LedgerRowProps {
  appId: string;
  row: Row;
  place: { index: number; count: number; width: number; lanes: number };
  /** Of the row's thread. */
  placed: Placed | null;
  /** How many threads that are not drawn pass here; 0 if that was said by the row above. */
  folded: number;
  /** For a revision whose thread is not drawn. */
  mover: Strand | null;
  /** For a revision: the source before it. */
  before: string | null;
  nameOf: NameOfHead;
  isLit: boolean;
  isMoving: boolean;
  onLit: (threadId: string | null) => void;
}

export const LedgerRow = memo(function LedgerRow(props: LedgerRowProps) {
  const { row, place, isLit, isMoving, onLit } = props;
  const threadId = row.strand?.threadId ?? null;
  const isFirstRevision = row.kind === 'revision' && row.isTip && place.index > 0;
  return (
    <li
      aria-setsize={place.count}
      aria-posinset={place.index + 1}
      className={`group absolute inset-x-0 top-0 flex h-9 items-stretch ${FOCUS} ${isMoving ? '[transition:transform_240ms_ease-out]' : ''}`}
      style={{ transform: `translateY(${place.index * ROW}px)` }}
      onMouseEnter={() => onLit(threadId)}
      onMouseLeave={() => onLit(null)}
      onFocus={() => onLit(threadId)}
      onBlur={() => onLit(null)}
    >
      <Margin {...props} />
      <div
        className={`flex min-w-0 flex-1 items-center gap-2 pr-4 sm:gap-3 group-hover:bg-sunk ${isFirstRevision ? 'border-t border-strong' : ''} ${isLit ? 'bg-sunk' : ''} border-b border-b-line`}
      >
        {row.kind === 'thread' ? <ThreadPart {...props} row={row} /> : <RevisionPart {...props} row={row} />}
      </div>
    </li>
  );
});

function Margin({ row, place, placed, folded }: LedgerRowProps) {
  const x = placed && markX(placed, place.lanes);
  return (
    <div className="relative shrink-0" style={{ width: place.width }} aria-hidden>
      {row.kind === 'thread' && x !== null && (
        <span
          className="absolute top-2.5 flex size-4 items-center justify-center rounded-[50%] bg-paper"
          style={{ left: x - 8 }}
        >
          <Status status={lookOf(row.strand.status).status} bare />
        </span>
      )}
      {folded > 0 && (
        <span
          className="absolute top-2.5 -translate-x-1/2 text-11 text-ink-3"
          style={{ left: foldX(place.lanes) }}
          title="Threads that there is no room to draw"
        >
          +{Math.min(folded, MOST_SAID)}
        </span>
      )}
    </div>
  );
}

function ThreadPart({ appId, row: { strand } }: LedgerRowProps & { row: Row & { kind: 'thread' } }) {
  const look = lookOf(strand.status);
  const note = noteOf(strand);
  return (
    <>
      <span className="hidden w-9 shrink-0 sm:inline" aria-hidden />
      <Link
        data-row
        to="/apps/$appId/threads/$threadId"
        params={{ appId, threadId: strand.threadId }}
        className={`min-w-0 flex-1 truncate outline-none ${OVER_ROW}`}
      >
        {titleOf(strand)}
      </Link>
      {strand.thread?.forkedFrom && <ForkMark />}
      {strand.thread?.primaryPullRequest && <PullRequestMark pull={strand.thread.primaryPullRequest} />}
      <span className="sr-only sm:hidden">{look.word}</span>
      {note && <span className="hidden truncate text-12 text-ink-3 lg:inline">{note}</span>}
      {strand.ending === 'conflict' && (
        <Link
          to="/apps/$appId/threads/$threadId/apply"
          params={{ appId, threadId: strand.threadId }}
          className="link relative z-10 hidden sm:inline"
        >
          Decide
        </Link>
      )}
      {strand.ending === 'queue' && strand.apply && (
        <Link
          to="/apps/$appId/applies/$applyId"
          params={{ appId, applyId: strand.apply.id }}
          className="link relative z-10 hidden sm:inline"
        >
          Apply
        </Link>
      )}
      <span className="hidden w-24 shrink-0 sm:inline">
        <Status {...look} />
      </span>
      <From revision={strand.base} />
      <When at={strand.thread?.updatedAt ?? strand.apply?.createdAt ?? null} />
    </>
  );
}

function RevisionPart({
  appId,
  row,
  before,
  mover,
  nameOf,
}: LedgerRowProps & { row: Row & { kind: 'revision' } }) {
  const { head, strand, isTip } = row;
  const source = { appId, sourceId: head.sourceId };
  return (
    <>
      <Link
        to="/apps/$appId/sources/$sourceId"
        params={source}
        aria-label={`Revision ${head.revision}, its files`}
        className={`relative z-10 w-6 shrink-0 text-right sm:w-9 tabular-nums hover:underline ${isTip ? 'font-bold text-water' : 'text-ink-2'}`}
      >
        {head.revision}
      </Link>
      <span className="flex min-w-0 flex-1 items-center gap-2">
        <Mover appId={appId} row={row} mover={mover} nameOf={nameOf} />
        {isTip && <HeadMark />}
      </span>
      {before && (
        <Link
          to="/apps/$appId/diff"
          params={{ appId }}
          search={{ from: before, to: head.sourceId }}
          aria-label={`Changes of revision ${head.revision}`}
          className="link relative z-10 hidden sm:inline"
        >
          Changes
        </Link>
      )}
      <span className="hidden w-24 shrink-0 text-ink-3 sm:inline">{strand ? 'joined' : ''}</span>
      <From revision={strand?.base ?? null} />
      <When at={head.updatedAt} />
    </>
  );
}

/** What moved the head. */
function Mover({
  appId,
  row: { head, strand },
  mover,
  nameOf,
}: Pick<LedgerRowProps, 'appId' | 'mover' | 'nameOf'> & { row: Row & { kind: 'revision' } }) {
  const shape = `truncate outline-none ${OVER_ROW}`;
  if (strand)
    return (
      <Link
        data-row
        to="/apps/$appId/threads/$threadId"
        params={{ appId, threadId: strand.threadId }}
        className={shape}
      >
        {titleOf(strand)}
      </Link>
    );
  if (head.applyId !== null)
    return (
      <Link
        data-row
        to="/apps/$appId/applies/$applyId"
        params={{ appId, applyId: head.applyId }}
        className={`text-ink-2 ${shape}`}
      >
        {moverOf(mover)}
      </Link>
    );
  return (
    <Link
      data-row
      to="/apps/$appId/sources/$sourceId"
      params={{ appId, sourceId: head.sourceId }}
      className={`text-ink-2 ${shape}`}
    >
      <Plain text={nameOf(head)} />
    </Link>
  );
}

const From = ({ revision }: { revision: number | null }) => (
  <span className="hidden w-16 shrink-0 text-right text-ink-3 tabular-nums md:inline">
    {revision === null ? '' : `from ${revision}`}
  </span>
);

const When = ({ at }: { at: string | null }) => (
  <span className="w-18 shrink-0 text-right text-12 sm:w-20 text-ink-3">
    <Time at={at} />
  </span>
);
