/** Git's merged text: what is agreed on, and between it the places in conflict, hatched and named. */
import './conflict.css';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { CodeLine } from '../../code/code-line.tsx';
import { Button } from '../../ui/button.tsx';
import { count, plural } from '../../ui/values.tsx';
import { partsOf } from './regions.ts';
import type { Merged, Take } from './regions.ts';

const CONTEXT = 3;
/** Shorter runs of agreed lines are not folded. */
const LEAST_FOLDED = 8;
/** More than these are not shown at once. */
const MOST_PLACES = 100;
const MOST_LINES = 400;

export function MergedView({
  merged,
  onTake,
  onShow,
}: {
  merged: Merged;
  onTake: (index: number, take: Take) => void;
  /** Shows the place on the sides, too. */
  onShow?: (index: number) => void;
}) {
  const parts = useMemo(() => partsOf(merged), [merged]);
  const [shown, setShown] = useState(MOST_PLACES);
  if (!parts)
    return (
      <p className="px-4 py-2 text-ink-2">
        The lines between the markers look like markers themselves. Take one side, or edit the result.
      </p>
    );
  const places = merged.regions.length;
  let line = 1;
  let place = 0;
  const blocks: ReactNode[] = [];
  for (const [at, part] of parts.entries()) {
    if ('text' in part) {
      const from = line;
      line += part.text.length;
      blocks.push(
        <Agreed key={at} lines={part.text} from={from} isFirst={at === 0} isLast={at === parts.length - 1} />,
      );
      continue;
    }
    const index = place++;
    if (index >= shown) {
      blocks.push(
        <div key={at} className="px-4 py-2">
          <Button onPress={() => setShown(shown + MOST_PLACES)}>
            Show more of the {count(places - shown)} places that follow
          </Button>
        </div>,
      );
      break;
    }
    blocks.push(
      <Place key={at} name={`Place ${index + 1} of ${places}`} line={line} sides={part}>
        {onShow && places > 1 && (
          <Button kind="quiet" onPress={() => onShow(index)} aria-label={`Show above: place ${index + 1}`}>
            Show above
          </Button>
        )}
        {(['head', 'draft', 'both'] as const).map((take) => (
          <Button
            key={take}
            onPress={() => onTake(index, take)}
            aria-label={`Place ${index + 1}: ${WORDS[take]}`}
          >
            {WORDS[take]}
          </Button>
        ))}
      </Place>,
    );
    line += part.head.length + part.draft.length + 3;
  }
  return <div className="border-y border-line">{blocks}</div>;
}

const WORDS = { head: 'Head', draft: 'Draft', both: 'Both' };

function Place({
  name,
  line,
  sides,
  children,
}: {
  name: string;
  line: number;
  sides: { head: string[]; draft: string[] };
  children: ReactNode;
}) {
  return (
    <section aria-label={name} className="conflict-side">
      <div className="conflict-hatch flex min-h-9 flex-wrap items-center gap-2 px-4 py-1">
        <h3 className="mr-auto text-12 font-bold text-conflict-mark">{name}</h3>
        {children}
      </div>
      {(['head', 'draft'] as const).map((side, i) => (
        <div
          key={side}
          className={`conflict-lines ${i > 0 ? 'border-t border-line' : ''}`}
          tabIndex={0}
          aria-label={`${name}, ${side}`}
          role="group"
        >
          <div className="conflict-hatch">
            <Lines lines={sides[side]} from={line + (i === 0 ? 1 : sides.head.length + 2)} label={side} />
          </div>
        </div>
      ))}
    </section>
  );
}

function Agreed({
  lines,
  from,
  isFirst,
  isLast,
}: {
  lines: string[];
  from: number;
  isFirst: boolean;
  isLast: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const before = isFirst ? 0 : CONTEXT;
  const after = isLast ? 0 : CONTEXT;
  const folded = lines.length - before - after;
  const code = (some: string[], start: number) => (
    <div className="conflict-lines" tabIndex={0} role="group" aria-label="Lines without a conflict">
      <div>
        <Lines lines={some} from={start} />
      </div>
    </div>
  );
  if (isOpen || folded < LEAST_FOLDED) return code(lines, from);
  return (
    <>
      {before > 0 && code(lines.slice(0, before), from)}
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="block min-h-6 w-full border-y border-line bg-sunk px-4 text-left text-12 text-ink-2 hover:text-ink"
      >
        {plural(folded, 'line')} without a conflict
      </button>
      {after > 0 && code(lines.slice(-after), from + lines.length - after)}
    </>
  );
}

function Lines({ lines, from, label }: { lines: string[]; from: number; label?: string }) {
  if (lines.length === 0)
    return (
      <div className="conflict-line">
        <span className="conflict-number" />
        {label && <span className="conflict-label">{label}</span>}
        <span className="conflict-text text-ink-2 italic">nothing</span>
      </div>
    );
  const more = lines.length - MOST_LINES;
  return (
    <>
      {lines.slice(0, MOST_LINES).map((text, i) => (
        <div key={i} className="conflict-line">
          <span className="conflict-number" aria-hidden>
            {from + i}
          </span>
          {label && <span className="conflict-label">{i === 0 ? label : ''}</span>}
          <span className="conflict-text">
            <CodeLine text={text.replace(/\r?\n$/, '')} />
          </span>
        </div>
      ))}
      {more > 0 && <p className="px-4 text-ink-2">and {plural(more, 'line')} more</p>}
    </>
  );
}
