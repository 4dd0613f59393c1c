import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { carried, undone } from './decisions.ts';
import type { Conflict, Entries } from './decisions.ts';
import { keptName, onWritten, readKept, writeKept } from './kept.ts';

export interface Decisions {
  /** Null until they are read. */
  entries: Entries | null;
  /** What they were before can come back. */
  change(next: Entries): void;
  /** A part of the last change, as letters of one text. */
  amend(next: Entries): void;
  /** No way back behind what is in the draft by now. The decisions stay: another tab may have made some meanwhile. */
  forgetPast(): void;
  undo: (() => void) | null;
  /** The browser does not keep them. */
  isLoose: boolean;
}

interface Made {
  entries: Entries;
  past: readonly Entries[];
}

const NONE: readonly Conflict[] = [];
const MOST_PAST = 100;

/** The decisions on a draft's conflicts; each change is kept at once. */
export function useDecisions(threadId: string, conflicts: readonly Conflict[] = NONE): Decisions {
  const name = keptName(useSession().user.id, threadId);
  const [made, setMade] = useState<Made | null>(null);
  const [isLoose, setLoose] = useState(false);
  const { keep, written } = useKeeper(name, setLoose);
  useEffect(() => {
    let isOver = false;
    const read = async () => {
      const before = written();
      const entries = await readKept(name);
      // What is decided here meanwhile is written after it, and wins.
      if (!isOver && before !== null && before === written()) setMade({ entries, past: [] });
    };
    void read();
    const stop = onWritten(name, () => void read());
    return () => {
      isOver = true;
      stop();
    };
  }, [name, written]);
  const change = useCallback(
    (entries: Entries, pastOf: (before: Made) => readonly Entries[]) => {
      keep(entries);
      setMade((before) => ({ entries, past: before ? pastOf(before) : [] }));
    },
    [keep],
  );
  const entries = useMemo(() => made && carried(conflicts, made.entries), [made, conflicts]);
  const last = made?.past.at(-1);
  return {
    entries,
    change: (next) => change(next, ({ past, entries }) => [...past, entries].slice(-MOST_PAST)),
    amend: (next) => change(next, ({ past }) => past),
    forgetPast: () => setMade((before) => before && { ...before, past: [] }),
    undo:
      made && last
        ? () => {
            const entries = undone(last, made.entries);
            keep(entries);
            setMade({ entries, past: made.past.slice(0, -1) });
          }
        : null,
    isLoose,
  };
}

interface Keeper {
  keep(entries: Entries): void;
  /** How often something was written here; null while something is. */
  written(): number | null;
}

/** Writes the latest; while one is written, only the last of those that follow. */
function useKeeper(name: string, onLoose: (isLoose: boolean) => void): Keeper {
  const waiting = useRef<Entries | null>(null);
  const isWriting = useRef(false);
  const count = useRef(0);
  return useMemo(
    () => ({
      keep(entries) {
        waiting.current = entries;
        count.current++;
        if (isWriting.current) return;
        isWriting.current = true;
        void (async () => {
          for (let next = waiting.current; next; next = waiting.current) {
            waiting.current = null;
            onLoose(!(await writeKept(name, next)));
          }
          isWriting.current = false;
        })();
      },
      written: () => (isWriting.current ? null : count.current),
    }),
    [name, onLoose],
  );
}
