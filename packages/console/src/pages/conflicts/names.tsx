/** Conflicts over names: two that collide, and the paths of a file that was moved. */
import { useState } from 'react';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import type { Conflict, Entries } from './decisions.ts';
import { renameDraft, takeAll } from './decisions.ts';
import { collidingName, groupsOf } from './groups.ts';
import { State } from './path-list.tsx';

interface Props {
  conflict: Conflict;
  conflicts: readonly Conflict[];
  entries: Entries;
  change: (next: Entries) => void;
}

/** Both names can stay if the draft's one is changed. */
export function Names({ conflict, conflicts, entries, change }: Props) {
  const group = groupsOf(conflicts, 'path').get(conflict.path) ?? [conflict.path];
  const members = conflicts.filter(({ path }) => group.includes(path));
  const drafts = members.find(({ head, draft }) => head === null && draft !== null)?.path;
  const from = drafts === undefined ? null : collidingName(drafts, group);
  const renamed = members
    .map(({ path }) => entries.get(path))
    .find((one) => one?.choice === 'rename' && one.to);
  const tail = drafts?.slice(from?.length ?? 0) ?? '';
  const [to, setTo] = useState(renamed?.to?.slice(0, renamed.to.length - tail.length) ?? suggested(from));
  const fault =
    to === '' ? 'A name is needed.' : group.includes(to) || to === from ? 'Another name is needed.' : null;
  return (
    <section aria-label="Names" className="border-t border-line">
      <List members={members} entries={entries} current={conflict.path} />
      {from !== null && (
        <form
          className="flex flex-wrap items-end gap-2 px-4 pt-1 pb-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (fault === null) change(renameDraft(entries, conflicts, { path: conflict.path, from, to }));
          }}
        >
          <div className="w-full max-w-[360px]">
            <Field label="Keep both, and name the draft’s" value={to} onChange={setTo} mono fault={fault} />
          </div>
          <Button type="submit" {...(fault !== null && { offBecause: fault })}>
            {renamed ? 'Rename it so' : 'Keep both'}
          </Button>
          {renamed && (
            <p role="status" className="long w-full text-12 text-ink-2">
              The draft’s <Plain text={from} /> becomes <Plain text={to === '' ? '…' : (renamed.to ?? '')} />.
            </p>
          )}
        </form>
      )}
    </section>
  );
}

/** `docs/notes.md` → `docs/notes-draft.md`. */
function suggested(from: string | null): string {
  if (from === null) return '';
  const dot = from.lastIndexOf('.');
  const at = dot > from.lastIndexOf('/') + 1 ? dot : from.length;
  return `${from.slice(0, at)}-draft${from.slice(at)}`;
}

/** A move is taken as a whole by one press; each path can still be decided on its own. */
export function Moved({ conflict, conflicts, entries, change }: Props) {
  const group = groupsOf(conflicts, 'rename').get(conflict.path) ?? [conflict.path];
  if (group.length < 2) return null;
  const members = conflicts.filter(({ path }) => group.includes(path));
  return (
    <section aria-label="Paths of the move" className="border-t border-line">
      <List members={members} entries={entries} current={conflict.path} />
      <div className="flex flex-wrap gap-2 px-4 pt-1 pb-3">
        <Button onPress={() => change(takeAll(entries, group, 'head'))}>
          All {group.length} as in the head
        </Button>
        <Button onPress={() => change(takeAll(entries, group, 'draft'))}>
          All {group.length} as in the draft
        </Button>
      </div>
    </section>
  );
}

function List({
  members,
  entries,
  current,
}: {
  members: readonly Conflict[];
  entries: Entries;
  current: string;
}) {
  return (
    <ul className="px-4 py-2">
      {members.map(({ path, head, draft }) => (
        <li key={path} className="flex flex-wrap items-center gap-x-3">
          <span className={`long font-mono text-mono ${path === current ? 'font-bold' : ''}`}>
            <Plain text={path} />
          </span>
          <span className="text-12 text-ink-3">
            {head && draft ? 'in both' : head ? 'in the head' : draft ? 'in the draft' : 'gone on both sides'}
          </span>
          <span className="text-12">
            <State entry={entries.get(path)} />
          </span>
        </li>
      ))}
    </ul>
  );
}
