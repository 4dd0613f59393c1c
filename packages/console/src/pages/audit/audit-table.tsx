import type { AuditEntry } from '@headrace/client';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import { Time } from '../../ui/values.tsx';
import { Named, Target } from './target.tsx';
import type { Names } from './target.tsx';
import { SERVICE, wordsOf } from './words.ts';

const ROW = 36;
const OVERSCAN = 12;
const COLUMNS = ['When', 'Who', 'What', 'To what', 'From'];

/** Only the rows in view are drawn. */
export function AuditTable({ entries, names }: { entries: readonly AuditEntry[]; names: Names }) {
  const box = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    if (box.current) setMargin(Math.round(box.current.getBoundingClientRect().top + window.scrollY));
  }, []);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled by React's compiler
  const virtual = useWindowVirtualizer({
    count: entries.length,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
    scrollMargin: margin,
  });
  const items = virtual.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = Math.min(items.at(-1)?.index ?? 0, entries.length - 1);
  return (
    <div
      ref={box}
      tabIndex={0}
      role="region"
      aria-label="Audit log"
      className="overflow-x-auto border-t border-line"
    >
      <table className="table whitespace-nowrap" aria-rowcount={entries.length + 1}>
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
          {entries.slice(from, to + 1).map((entry, i) => (
            <Row key={entry.id} entry={entry} names={names} rowIndex={from + i + 2} />
          ))}
          <Space rows={entries.length - 1 - to} />
        </tbody>
      </table>
    </div>
  );
}

/** In the place of rows that are out of view. */
const Space = ({ rows }: { rows: number }) =>
  rows > 0 && (
    <tr aria-hidden>
      <td colSpan={COLUMNS.length} style={{ height: rows * ROW, padding: 0 }} />
    </tr>
  );

function Row({
  entry: { action, actorId, targetId, address, createdAt },
  names,
  rowIndex,
}: {
  entry: AuditEntry;
  names: Names;
  rowIndex: number;
}) {
  return (
    <tr aria-rowindex={rowIndex}>
      <td className="text-ink-3">
        <Time at={createdAt} />
      </td>
      <td className="max-w-60 truncate">
        {actorId === null ? SERVICE : <Named id={actorId} names={names} />}
      </td>
      <td>
        {wordsOf(action)} <code className="font-mono text-12 text-ink-3">{action}</code>
      </td>
      <td className="max-w-60 truncate">
        <Target id={targetId} names={names} />
      </td>
      <td className="font-mono text-mono text-ink-2">{address ?? '–'}</td>
    </tr>
  );
}
