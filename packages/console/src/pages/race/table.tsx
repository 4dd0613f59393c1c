/** The race as a table: the same rows, with all that the drawing says in words. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ForkMark, HeadMark, Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { Plain } from '../../code/plain.tsx';
import type { NameOfHead } from './head-names.ts';
import { PullRequestMark } from '../pull-requests/marks.tsx';
import { rowsOf } from './layout.ts';
import type { Row } from './layout.ts';
import { ROW } from './shape.ts';
import type { Strand, ThreadOf } from './strands.ts';
import type { Race } from './use-race.ts';
import { useRows } from './use-rows.ts';
import { lookOf, moverOf, noteOf, summaryOf, titleOf } from './words.ts';

const COLUMNS = ['Revision', 'Thread', 'Status', 'Based on', 'When', 'Open'];

export function RaceTable({
  appId,
  race: { heads, strands, movers, readFor },
  nameOf,
  isFiltered,
  selected,
}: {
  appId: string;
  race: Race;
  nameOf: NameOfHead;
  isFiltered: boolean;
  selected: string | null;
}) {
  const rows = useMemo(() => rowsOf(heads, strands, isFiltered), [heads, strands, isFiltered]);
  const { box, from, to } = useRows(rows, readFor);
  return (
    <div ref={box} className="overflow-x-auto border-t border-line">
      <table className="table" aria-rowcount={rows.length + 1}>
        <caption className="sr-only">{summaryOf(strands, heads[0]?.revision ?? null)}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space rows={from} />
          {rows.slice(from, to + 1).map((row, i) => (
            <TableRow
              key={row.key}
              appId={appId}
              row={row}
              nameOf={nameOf}
              rowIndex={from + i + 2}
              mover={(row.kind === 'revision' && movers.get(row.head.revision)) || null}
              before={
                row.kind === 'revision'
                  ? (heads.find(({ revision }) => revision === row.head.revision - 1)?.sourceId ?? null)
                  : null
              }
              isSelected={selected !== null && row.strand?.threadId === selected}
            />
          ))}
          <Space rows={rows.length - 1 - to} />
        </tbody>
      </table>
    </div>
  );
}

/** In the place of rows that are out of view. */
const Space = ({ rows }: { rows: number }) =>
  rows > 0 && (
    <tr aria-hidden>
      <td colSpan={COLUMNS.length} className="p-0" style={{ height: rows * ROW, border: 0 }} />
    </tr>
  );

/** Not a revision that was read: the branch, where it is one. */
const Base = ({ thread }: { thread: ThreadOf | null }) =>
  thread?.baseBranch ? <Plain text={thread.baseBranch} /> : thread?.sourceId === null ? 'nothing' : 'older';

function TableRow({
  appId,
  row,
  nameOf,
  rowIndex,
  mover,
  before,
  isSelected,
}: {
  appId: string;
  row: Row;
  nameOf: NameOfHead;
  rowIndex: number;
  mover: Strand | null;
  before: string | null;
  isSelected: boolean;
}) {
  const { strand } = row;
  const note = strand ? noteOf(strand) : '';
  return (
    <tr aria-rowindex={rowIndex} className={isSelected ? 'bg-sunk' : ''}>
      <td className="tabular-nums whitespace-nowrap">
        {row.kind === 'revision' && (
          <Link
            to="/apps/$appId/sources/$sourceId"
            params={{ appId, sourceId: row.head.sourceId }}
            className="link"
            aria-label={`Revision ${row.head.revision}, its files`}
          >
            {row.head.revision}
          </Link>
        )}
        {row.kind === 'revision' && row.isTip && (
          <span className="ml-2">
            <HeadMark />
          </span>
        )}
      </td>
      <td className="max-w-96 min-w-48">
        {strand ? (
          <Link
            data-row
            to="/apps/$appId/threads/$threadId"
            params={{ appId, threadId: strand.threadId }}
            className="link block truncate"
            title={titleOf(strand)}
          >
            {titleOf(strand)}
          </Link>
        ) : row.kind === 'revision' && row.head.applyId === null ? (
          <span className="block truncate text-ink-2">
            <Plain text={nameOf(row.head)} />
          </span>
        ) : (
          <span className="text-ink-2">{moverOf(mover)}</span>
        )}
      </td>
      <td className="whitespace-nowrap">
        <span className="flex items-center gap-2">
          {strand && <Status {...lookOf(strand.status)} />}
          {strand?.thread?.forkedFrom && <ForkMark />}
          {strand?.thread?.primaryPullRequest && <PullRequestMark pull={strand.thread.primaryPullRequest} />}
          {note && <span className="text-12 text-ink-3">{note}</span>}
        </span>
      </td>
      <td className="text-ink-2 tabular-nums whitespace-nowrap">
        {strand && (strand.base === null ? <Base thread={strand.thread} /> : `revision ${strand.base}`)}
      </td>
      <td className="text-ink-2">
        <Time
          at={
            row.kind === 'revision'
              ? row.head.updatedAt
              : (strand?.thread?.updatedAt ?? strand?.apply?.createdAt ?? null)
          }
        />
      </td>
      <td className="whitespace-nowrap">
        <span className="flex items-center gap-3">
          {row.kind === 'revision' && before && (
            <Link
              to="/apps/$appId/diff"
              params={{ appId }}
              search={{ from: before, to: row.head.sourceId }}
              className="link"
              aria-label={`Changes of revision ${row.head.revision}`}
            >
              Changes
            </Link>
          )}
          {strand?.ending === 'conflict' && (
            <Link
              to="/apps/$appId/threads/$threadId/apply"
              params={{ appId, threadId: strand.threadId }}
              className="link"
            >
              Decide
            </Link>
          )}
          {strand?.apply && (
            <Link
              to="/apps/$appId/applies/$applyId"
              params={{ appId, applyId: strand.apply.id }}
              className="link"
            >
              Apply
            </Link>
          )}
        </span>
      </td>
    </tr>
  );
}
