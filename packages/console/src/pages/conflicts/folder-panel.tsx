/** All conflicts below a folder at once. */
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { plural } from '../../ui/values.tsx';
import { isDecided, takeSide } from './decisions.ts';
import type { Conflict, Entries, Side } from './decisions.ts';
import { kindWord } from './words.ts';

export function FolderPanel({
  path,
  conflicts,
  entries,
  change,
}: {
  path: string;
  conflicts: readonly Conflict[];
  entries: Entries;
  change: (next: Entries) => void;
}) {
  const within = conflicts.filter((one) => one.path.startsWith(path));
  const open = within.filter((one) => !isDecided(entries.get(one.path)!)).length;
  const texts = within.filter((one) => entries.get(one.path)?.choice === 'text').length;
  const take = (side: Side) => change(takeSide(entries, conflicts, path, side));
  useKeys([
    { keys: '1', does: 'Take the head’s', run: () => take('head') },
    { keys: '2', does: 'Take the draft’s', run: () => take('draft') },
  ]);
  const kinds = Map.groupBy(within, ({ kind }) => kind);
  return (
    <article aria-label={path} className="flex flex-col gap-3 px-4 py-3">
      <h2 className="long font-mono text-15 font-bold">
        <Plain text={path} />
      </h2>
      <p className="text-ink-2">
        {plural(within.length, 'conflict')}, {open} open:{' '}
        {[...kinds].map(([kind, some]) => `${some.length} ${kindWord(kind)}`).join(', ')}.
      </p>
      <div role="group" aria-label="Decision" className="flex flex-wrap gap-2">
        {(['head', 'draft'] as const).map((side, i) => (
          <Button key={side} onPress={() => take(side)} aria-keyshortcuts={String(i + 1)}>
            Take the {side}’s for all {within.length}
            <kbd className="hidden font-mono text-11 text-ink-3 sm:inline" aria-hidden>
              {i + 1}
            </kbd>
          </Button>
        ))}
      </div>
      <p className="text-12 text-ink-3">
        Decisions that are already made below it are replaced.
        {texts > 0 && ` Your ${plural(texts, 'own text')} stay in the browser, and come back when you edit.`}
      </p>
    </article>
  );
}
