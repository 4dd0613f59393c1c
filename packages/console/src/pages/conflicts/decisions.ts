/**
 * The decisions on the conflicts of a draft, without a page or a service, so that what is shown and what is sent come
 * from the same place.
 *
 *   open     head, draft, text, rename     decided
 *   decided  the sides change              open, moved: somebody has to look again
 */
import type { ConflictFile } from '@headrace/client';
import { compactResolutions, MAX_RESOLUTIONS } from '@headrace/client';
import { groupsOf } from './groups.ts';
import type { Conflict, Resolution, Side } from './conflict.ts';
export type { Conflict, Resolution, Side } from './conflict.ts';
import type { Merged } from './regions.ts';
import { sha256 } from '../../api/sha256.ts';

/** `text`: one's own. `rename`: both names of a collision stay, the draft's under another name. */
export type Choice = Side | 'text' | 'rename';

/** A file's contents of one's own, as far as they are written. */
export interface Own extends Merged {
  /** Markers that are left; with any, the text is not finished. */
  left: number;
  from: 'both sides' | 'places' | 'the editor';
}

/** A conflict with the sides that its decision was made for. */
export interface Entry {
  path: string;
  kind: Conflict['kind'];
  base: string | null;
  head: string | null;
  draft: string | null;
  choice: Choice | null;
  /** Kept when something else is chosen. */
  own: Own | null;
  /** The new path of a `rename`; null for what stays where it is. */
  to: string | null;
  /** It was decided, and a side has changed since. */
  isMoved: boolean;
}
/** By path; also those that are in conflict no more, as they may be again. */
export type Entries = ReadonlyMap<string, Entry>;

const hashes = new WeakMap<Own, string>();
/** As the service has it; made once for each text. */
function hashOf(own: Own): string {
  const hash = hashes.get(own) ?? sha256(own.content);
  hashes.set(own, hash);
  return hash;
}

export const isDecided = ({ choice, own }: Entry): boolean =>
  choice === 'text' ? own !== null && own.left === 0 : choice !== null;

const fresh = ({ path, kind, base, head, draft }: Conflict): Entry => ({
  path,
  kind,
  base,
  head,
  draft,
  choice: null,
  own: null,
  to: null,
  isMoved: false,
});

/** The decisions for these conflicts: those with the same sides stay, others are open again and marked as moved. */
export function carried(conflicts: readonly Conflict[], entries: Entries): Entries {
  const next = new Map(entries);
  for (const conflict of conflicts) {
    const was = entries.get(conflict.path);
    if (!was) next.set(conflict.path, fresh(conflict));
    else if (isSame(conflict, was))
      next.set(conflict.path, { ...was, kind: conflict.kind, draft: conflict.draft });
    else
      next.set(conflict.path, {
        ...fresh(conflict),
        own: was.own,
        isMoved: was.choice !== null || was.isMoved,
      });
  }
  // Names that collide are decided together.
  for (const group of groupsOf(conflicts, 'path').values()) {
    const members = group.map((path) => next.get(path)!);
    if (members.every(({ choice }) => choice !== null)) continue;
    for (const one of members)
      next.set(one.path, { ...one, choice: null, to: null, isMoved: one.isMoved || one.choice !== null });
  }
  return next;
}

/** One's own text may be what the draft has by now. */
function isSame(now: Conflict, was: Entry): boolean {
  if (now.base !== was.base || now.head !== was.head) return false;
  if (now.draft === was.draft && now.kind === was.kind) return true;
  return was.choice === 'text' && was.own?.left === 0 && now.draft === hashOf(was.own);
}

/** Whether a choice is there at all. `file` is null until it is read. */
export function canTake(choice: Choice | 'both', conflict: Conflict, file: ConflictFile | null): boolean {
  switch (choice) {
    case 'head':
    case 'draft':
      return true;
    case 'both':
      return file?.merged != null && file.merged.regions.length > 0;
    case 'rename':
      return conflict.kind === 'path';
    case 'text':
      return (
        conflict.kind !== 'path' &&
        conflict.kind !== 'mode' &&
        [file?.head, file?.draft].some((side) => side?.encoding === 'utf8' && side.content !== null)
      );
  }
}

/** The paths that a decision at this one is about: a folder's, both names of a collision, or the path alone. */
export function coveredBy(path: string, conflicts: readonly Conflict[]): string[] {
  const within = path.endsWith('/') ? conflicts.filter((one) => one.path.startsWith(path)) : [];
  const paths = path.endsWith('/') ? within.map((one) => one.path) : [path];
  const groups = groupsOf(conflicts, 'path');
  return [...new Set(paths.flatMap((one) => groups.get(one) ?? [one]))];
}

/** One side's files at the path, or at all conflicts below a folder. */
export function takeSide(
  entries: Entries,
  conflicts: readonly Conflict[],
  path: string,
  side: Side,
): Entries {
  return changed(entries, coveredBy(path, conflicts), { choice: side, to: null, isMoved: false });
}

/** Several paths at once, as those of a move. */
export const takeAll = (entries: Entries, paths: readonly string[], side: Side): Entries =>
  changed(entries, paths, { choice: side, to: null, isMoved: false });

export const write = (entries: Entries, path: string, own: Own): Entries =>
  changed(entries, [path], { choice: 'text', own, isMoved: false });

/** Both names stay: the draft's files move from the colliding name to another one. */
export function renameDraft(
  entries: Entries,
  conflicts: readonly Conflict[],
  { path, from, to }: { path: string; from: string; to: string },
): Entries {
  const next = new Map(entries);
  for (const one of coveredBy(path, conflicts)) {
    const entry = next.get(one)!;
    const isDrafts = entry.head === null && entry.draft !== null;
    next.set(one, {
      ...entry,
      choice: 'rename',
      to: isDrafts ? to + one.slice(from.length) : null,
      isMoved: false,
    });
  }
  return next;
}

/** Back to `before`. A text that was written since stays: an edit begins with it. */
export function undone(before: Entries, now: Entries): Entries {
  const next = new Map(before);
  for (const [path, one] of now) {
    const was = before.get(path) ?? { ...one, choice: null, to: null, isMoved: false };
    if (was.choice !== 'text') next.set(path, { ...was, own: one.own ?? was.own });
  }
  return next;
}

function changed(entries: Entries, paths: readonly string[], change: Partial<Entry>): Entries {
  const next = new Map(entries);
  for (const path of paths) {
    const entry = next.get(path);
    if (entry) next.set(path, { ...entry, ...change });
  }
  return next;
}

// What is sent.

export interface Change {
  path: string;
  content?: string;
  executable?: boolean;
  renameFrom?: string;
}
export interface Plan {
  /** Without a decision: nothing is sent. */
  open: string[];
  /** An edit of the draft that goes before the apply; after it, the preview and the plan are made again. */
  changes: Change[];
  resolutions: Resolution[];
}

/** Only the head's executable bit of the file is needed, and only for own texts. */
export type FileOf = (path: string) => Pick<ConflictFile, 'head' | 'draft'> | undefined;

/** One's own text goes into the draft, whose side is then taken. */
export function planOf(conflicts: readonly Conflict[], entries: Entries, fileOf: FileOf): Plan {
  const plan: Plan = { open: [], changes: [], resolutions: [] };
  for (const conflict of conflicts) {
    const { path } = conflict;
    const entry = entries.get(path);
    if (!entry || !isDecided(entry)) plan.open.push(path);
    else if (entry.choice === 'rename') {
      if (entry.to !== null) plan.changes.push({ path: entry.to, renameFrom: path });
      // Until the edit is there; then the two names collide no more.
      else plan.resolutions.push({ path, take: 'head' });
    } else if (entry.choice === 'text') {
      const own = entry.own!;
      if (conflict.draft !== hashOf(own)) plan.changes.push(changeOf(path, own.content, fileOf(path)));
      plan.resolutions.push({ path, take: 'draft' });
    } else if (entry.choice) plan.resolutions.push({ path, take: entry.choice });
  }
  return plan;
}

/** The draft keeps its bit; where it has no file, the head's bit counts. */
function changeOf(path: string, content: string, file: ReturnType<FileOf>): Change {
  const isExecutable = file?.draft === null && file.head?.executable === true;
  return { path, content, ...(isExecutable && { executable: true }) };
}

/** As they are or, if they are too many for one apply, with folders whose conflicts mostly take one side. */
export function compacted(conflicts: readonly Conflict[], resolutions: readonly Resolution[]): Resolution[] {
  if (resolutions.length <= MAX_RESOLUTIONS) return [...resolutions];
  return compactResolutions(
    conflicts.map(({ path }) => path),
    resolutions,
  );
}
