/** One conflict: what each side did, the choices, the three sides, the result. */
import type { ConflictFile } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy, useMemo, useRef, useState } from 'react';
import { conflictFileQuery } from '../../api/queries.ts';
import { Plain } from '../../code/index.ts';
import { useKeys } from '../../ui/keys.ts';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Button } from '../../ui/button.tsx';
import { plural } from '../../ui/values.tsx';
import { Choices } from './choices.tsx';
import { canTake, takeSide, write } from './decisions.ts';
import type { Conflict, Entries, Entry, Own, Side } from './decisions.ts';
import { MergedView } from './merged-view.tsx';
import { Moved, Names } from './names.tsx';
import { State } from './path-list.tsx';
import { markersIn, taken, withBoth } from './regions.ts';
import type { Take } from './regions.ts';
import { Sides } from './sides.tsx';
import { SIDES, sentenceOf } from './words.ts';

const Editor = lazy(() => import('./editor.tsx'));

export interface PanelProps {
  appId: string;
  threadId: string;
  sourceId: string;
  headSourceId: string;
  conflicts: readonly Conflict[];
  entries: Entries;
  change: (next: Entries) => void;
  amend: (next: Entries) => void;
}

export function FilePanel({ conflict, ...props }: PanelProps & { conflict: Conflict }) {
  const { appId, threadId, sourceId, headSourceId } = props;
  const { path } = conflict;
  const file = useQuery({
    ...conflictFileQuery(appId, threadId, { sourceId, headSourceId, path }),
    // A head that moves elsewhere changes nothing here: an open editor stays open.
    placeholderData: (before) => (before && hasSidesOf(conflict, before) ? before : undefined),
  });
  const entry = props.entries.get(path)!;
  const take = (side: Side) => props.change(takeSide(props.entries, props.conflicts, path, side));
  useKeys([
    { keys: '1', does: 'Take the head’s', run: () => take('head') },
    { keys: '2', does: 'Take the draft’s', run: () => take('draft') },
  ]);
  return (
    <article aria-label={path} className="min-w-0 pb-6">
      <header className="flex flex-col gap-1 px-4 pt-3 pb-2">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h2 className="long font-mono text-15 font-bold">
            <Plain text={path} />
          </h2>
          <State entry={entry} />
        </div>
        <p className="text-ink-2">{sentenceOf(conflict)}</p>
        {entry.isMoved && (
          <p role="status" className="bg-wait-wash px-2 py-1 text-wait">
            Moved: a side has changed since you decided. Look again.
          </p>
        )}
      </header>
      <Shown query={file} skeleton={<Skeleton lines={10} height={20} />}>
        {(read) => <Decide {...props} conflict={conflict} entry={entry} file={read} take={take} />}
      </Shown>
    </article>
  );
}

const hasSidesOf = (conflict: Conflict, file: ConflictFile): boolean =>
  SIDES.every((side) => (file[side]?.sha256 ?? null) === conflict[side]);

interface DecideProps extends PanelProps {
  conflict: Conflict;
  entry: Entry;
  file: ConflictFile;
  take: (side: Side) => void;
}

function Decide({ conflict, entry, file, take, ...props }: DecideProps) {
  const { path } = conflict;
  const { entries, change, amend } = props;
  // The editor is open as long as what is kept is what it holds: an undo, or another tab, closes it.
  const [edited, setEdited] = useState<string | null>(null);
  const isEditing = edited !== null && entry.choice === 'text' && entry.own?.content === edited;
  // What is typed in one go is one step.
  const isStepMade = useRef(false);
  const [shown, setShown] = useState(0);
  const group = useRef<HTMLDivElement>(null);
  const close = () => {
    setEdited(null);
    group.current?.querySelector<HTMLElement>('button:last-of-type')?.focus();
  };
  const bothSides = useMemo(() => file.merged && withBoth(file.merged), [file]);
  const can = (choice: 'both' | 'text') =>
    canTake(choice, conflict, file) && (choice === 'text' || bothSides !== null);
  const put = (own: Own) => change(write(entries, path, own));
  const both = () => {
    if (bothSides === null) return;
    setEdited(null);
    put({ content: bothSides, regions: [], left: 0, from: 'both sides' });
  };
  const edit = () => {
    if (isEditing) return;
    // What is in the editor is what is kept, from the start.
    const own = entry.own ?? startOf(entry, file);
    isStepMade.current = entry.choice !== 'text';
    if (isStepMade.current) put(own);
    setEdited(own.content);
  };
  const type = (content: string) => {
    const next = { content, regions: [], left: markersIn(content, file), from: 'the editor' as const };
    (isStepMade.current ? amend : change)(write(entries, path, next));
    isStepMade.current = true;
    setEdited(content);
  };
  useKeys([
    { keys: '3', does: 'Take both', run: () => can('both') && both() },
    { keys: 'e', does: 'Edit the result', run: () => can('text') && edit() },
  ]);
  const place = (index: number, side: Take) => {
    const from = entry.choice === 'text' && entry.own ? entry.own : file.merged!;
    const next = taken(from, index, side);
    put({ ...next, left: next.regions.length, from: 'places' });
  };
  return (
    <>
      <Choices
        conflict={conflict}
        entry={entry}
        can={can}
        onTake={take}
        onBoth={both}
        onEdit={edit}
        isEditing={isEditing}
        group={group}
      />
      {conflict.kind === 'path' && <Names conflict={conflict} {...props} />}
      {conflict.kind === 'rename' && <Moved conflict={conflict} {...props} />}
      <Sides
        file={file}
        conflict={conflict}
        place={shown}
        taken={entry.choice === 'head' || entry.choice === 'draft' ? entry.choice : null}
      />
      {isEditing && entry.own ? (
        <Suspense fallback={<Skeleton lines={10} height={20} />}>
          <Editor key={path} file={file} content={entry.own.content} onChange={type} onClose={close} />
        </Suspense>
      ) : (
        <Result entry={entry} file={file} onPlace={place} onShow={setShown} onEdit={edit} />
      )}
    </>
  );
}

/** Where an edit begins. */
function startOf({ choice }: Entry, file: ConflictFile): Own {
  const { merged, head, draft } = file;
  const side = choice === 'head' ? head : choice === 'draft' ? draft : null;
  const from = 'the editor' as const;
  if (side?.content != null && side.encoding === 'utf8')
    return { content: side.content, regions: [], left: 0, from };
  if (merged) return { ...merged, left: merged.regions.length, from };
  return { content: (draft ?? head)?.content ?? '', regions: [], left: 0, from };
}

function Result({
  entry,
  file,
  onPlace,
  onShow,
  onEdit,
}: {
  entry: Entry;
  file: ConflictFile;
  onPlace: (index: number, side: Take) => void;
  onShow: (index: number) => void;
  onEdit: () => void;
}) {
  const { choice, own } = entry;
  if (choice === 'head' || choice === 'draft' || choice === 'rename') return null;
  const merged = choice === 'text' && own ? own : file.merged;
  if (!merged) return null;
  const isOwn = choice === 'text';
  const left = isOwn ? (own?.left ?? 0) : merged.regions.length;
  return (
    <section aria-label="Result" className="mt-4">
      <div className="flex min-h-9 flex-wrap items-center gap-2 px-4">
        <h3 className="font-bold">{isOwn ? 'Result: your own text' : 'Merged by git'}</h3>
        <span className="mr-auto text-12 text-ink-3">
          {left > 0
            ? merged.regions.length > 0
              ? `${plural(left, 'place')} in conflict`
              : `${plural(left, 'line')} with markers: edit them out`
            : 'nothing is in conflict'}
        </span>
        {isOwn && <Button onPress={onEdit}>Edit it</Button>}
      </div>
      <MergedView merged={merged} onTake={onPlace} {...(!isOwn && { onShow })} />
    </section>
  );
}
