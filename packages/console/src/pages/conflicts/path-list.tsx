/** The conflicts of an apply, folders as rows; one of them is shown beside. */
import { Link, getRouteApi } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Folder } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Plain } from '../../code/index.ts';
import { Status } from '../../ui/status.tsx';
import type { Entries, Entry } from './decisions.ts';
import { isDecided } from './decisions.ts';
import type { Row } from './tree.ts';
import { kindWord, stateWord } from './words.ts';

const route = getRouteApi('/signed-in/apps/$appId/threads/$threadId/apply');
const ROW = 36;
const SPARE = 12;

export function PathList({
  rows,
  entries,
  selected,
}: {
  rows: readonly Row[];
  entries: Entries;
  selected: string | null;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled by React's compiler
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: SPARE,
  });
  const at = rows.findIndex(({ path }) => path === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);
  return (
    <nav aria-label="Conflicts" ref={scroller} className="max-h-[40vh] overflow-y-auto md:max-h-none md:grow">
      <ul className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <li
            key={rows[index]!.path}
            className="absolute inset-x-0"
            style={{ top: start, height: ROW }}
            aria-posinset={index + 1}
            aria-setsize={rows.length}
          >
            <RowLink row={rows[index]!} entries={entries} isSelected={rows[index]!.path === selected} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A name stands below the name of its folder. */
const INDENT = 19;

function RowLink({ row, entries, isSelected }: { row: Row; entries: Entries; isSelected: boolean }) {
  const { appId, threadId } = route.useParams();
  const entry = entries.get(row.path);
  return (
    <Link
      to="/apps/$appId/threads/$threadId/apply"
      params={{ appId, threadId }}
      search={(before: { only?: 'open' }) => ({ ...before, path: row.path })}
      replace
      data-row
      data-path={row.path}
      title={row.path}
      aria-current={isSelected ? 'true' : undefined}
      {...(isSelected && { 'data-selected': true })}
      className="row h-full border-l-2 border-l-transparent pl-3.5 data-selected:border-l-water"
    >
      <span
        className="flex min-w-0 grow items-center gap-1.5 font-mono text-mono"
        style={{ paddingLeft: row.depth * INDENT }}
      >
        {row.type === 'folder' && <Folder size={13} aria-label="folder" className="shrink-0 text-ink-3" />}
        <span className="truncate">
          <Plain text={row.name} />
        </span>
      </span>
      {row.type === 'folder' ? (
        <span className="shrink-0 text-12 text-ink-3 tabular-nums">
          {row.open > 0 ? `${row.open} of ${row.count} open` : `${row.count} decided`}
        </span>
      ) : (
        <span className="flex shrink-0 items-center gap-2 text-12">
          <span className="text-ink-3">{kindWord(row.conflict.kind)}</span>
          <State entry={entry} />
        </span>
      )}
    </Link>
  );
}

/** Decided, open, moved, unfinished: by the shapes of statuses. */
export function State({ entry }: { entry: Entry | undefined }) {
  const word = stateWord(entry);
  const isDone = entry && isDecided(entry);
  const status = isDone ? 'ready' : entry?.isMoved ? 'waiting' : entry?.choice ? 'preparing' : 'queued';
  return <Status status={status} word={word} />;
}
