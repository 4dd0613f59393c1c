/** What can be done with a conflict, each with its key. */
import type { ReactNode, Ref } from 'react';
import { Toggle } from '../../ui/button.tsx';
import type { Conflict, Entry, Side } from './decisions.ts';
import { takeWord } from './words.ts';

export function Choices({
  conflict,
  entry,
  can,
  onTake,
  onBoth,
  onEdit,
  isEditing,
  group,
}: {
  conflict: Conflict;
  entry: Entry;
  can: (choice: 'both' | 'text') => boolean;
  onTake: (side: Side) => void;
  onBoth: () => void;
  onEdit: () => void;
  isEditing: boolean;
  /** Where the focus goes when the editor closes. */
  group: Ref<HTMLDivElement>;
}) {
  const isBoth = entry.choice === 'text' && entry.own?.from === 'both sides';
  return (
    <div ref={group} role="group" aria-label="Decision" className="flex flex-wrap gap-2 px-4 pb-3">
      <One keys="1" isOn={entry.choice === 'head'} onPress={() => onTake('head')}>
        {takeWord('head', conflict)}
      </One>
      <One keys="2" isOn={entry.choice === 'draft'} onPress={() => onTake('draft')}>
        {takeWord('draft', conflict)}
      </One>
      {can('both') && (
        <One keys="3" isOn={isBoth} onPress={onBoth}>
          Take both
        </One>
      )}
      {can('text') && (
        <One keys="e" isOn={isEditing || (entry.choice === 'text' && !isBoth)} onPress={onEdit}>
          Edit the result
        </One>
      )}
    </div>
  );
}

function One({
  keys,
  isOn,
  onPress,
  children,
}: {
  keys: string;
  isOn: boolean;
  onPress: () => void;
  children: ReactNode;
}) {
  return (
    <Toggle isSelected={isOn} onChange={onPress} aria-keyshortcuts={keys}>
      {children}
      <kbd className="hidden font-mono text-11 text-ink-3 sm:inline" aria-hidden>
        {keys}
      </kbd>
    </Toggle>
  );
}
