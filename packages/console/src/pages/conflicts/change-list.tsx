/** Changed files with their counts. */
import type { DiffFile } from '@headrace/client';
import { useState } from 'react';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import { count } from '../../ui/values.tsx';

const STEP = 100;

export function ChangeList({ changes }: { changes: readonly DiffFile[] }) {
  const [shown, setShown] = useState(STEP);
  if (changes.length === 0) return <Empty title="Nothing changes" />;
  return (
    <>
      <ul>
        {changes.slice(0, shown).map(({ path, oldPath, status, binary, additions, deletions }) => (
          <li key={path} className="row min-h-7">
            <span className="w-16 shrink-0 text-12 text-ink-3">{status}</span>
            <span className="long grow font-mono text-mono">
              {oldPath !== undefined && (
                <>
                  <Plain text={oldPath} /> →{' '}
                </>
              )}
              <Plain text={path} />
            </span>
            <span className="shrink-0 font-mono text-mono tabular-nums">
              {binary ? (
                <span className="text-ink-3">not text</span>
              ) : (
                <>
                  <span className="text-added-mark">+{count(additions)}</span>{' '}
                  <span className="text-removed-mark">−{count(deletions)}</span>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {changes.length > shown && (
        <div className="px-4 py-2">
          <Button onPress={() => setShown(shown + 5 * STEP)}>Show more</Button>
        </div>
      )}
    </>
  );
}
