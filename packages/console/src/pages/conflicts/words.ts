/** What conflicts and their choices are called. */
import type { ApplyPreview, ConflictFile, ConflictSide } from '@headrace/client';
import { bytes } from '../../ui/values.tsx';
import type { Choice, Conflict, Entry } from './decisions.ts';
import { isDecided } from './decisions.ts';

const KINDS: Record<Conflict['kind'], string> = {
  content: 'same lines',
  add_add: 'both added',
  delete_modify: 'deleted',
  rename: 'renamed',
  mode: 'executable',
  binary: 'not text',
  path: 'names',
};

/** A kind that this console does not know is shown as its word. */
export const kindWord = (kind: string): string => KINDS[kind as Conflict['kind']] ?? kind;

export function sentenceOf({ kind, base, head }: Conflict): string {
  switch (kind) {
    case 'content':
      return 'The head and the draft changed the same lines.';
    case 'add_add':
      return 'The head and the draft added it with different contents.';
    case 'delete_modify':
      return head === null
        ? 'The head deleted this file. The draft changed it.'
        : 'The head changed this file. The draft deleted it.';
    case 'rename':
      return 'The file was renamed, by both sides or against an edit. Each of its paths is decided on its own.';
    case 'mode':
      return 'Both have the same contents, but only one of them is executable.';
    case 'binary':
      return base === null
        ? 'The head and the draft added it, and it is not text.'
        : 'The head and the draft changed it, and it is not text.';
    case 'path':
      return 'Two names collide: on some file systems both would be the same file.';
    default:
      return `A conflict of the kind ${String(kind)}.`;
  }
}

export function takeWord(
  side: 'head' | 'draft',
  conflict: Pick<Conflict, 'head' | 'draft' | 'kind'>,
): string {
  if (conflict.kind === 'path') return side === 'head' ? 'Keep the head’s name' : 'Keep the draft’s name';
  if (conflict[side] !== null) return side === 'head' ? 'Take the head’s' : 'Take the draft’s';
  const isDeleted = conflict.kind === 'delete_modify';
  return `${isDeleted ? 'Delete it' : 'No file here'}, as the ${side}`;
}

const CHOSEN: Record<Choice, string> = { head: 'head', draft: 'draft', text: 'own text', rename: 'new name' };

/** Of a row: `open`, `moved`, `head`, `2 places left`. */
export function stateWord(entry: Entry | undefined): string {
  if (!entry) return 'open';
  if (isDecided(entry)) return entry.choice === 'rename' && !entry.to ? 'stays' : CHOSEN[entry.choice!];
  if (entry.choice === 'text') return 'unfinished';
  return entry.isMoved ? 'moved' : 'open';
}

export function sizeWord(side: ConflictSide | null, name: 'base' | 'head' | 'draft'): string {
  if (!side) return name === 'base' ? 'no file yet' : 'no file';
  const isText = side.encoding === 'utf8';
  return [
    bytes(side.byteSize),
    isText ? null : 'not text',
    side.content === null ? 'too large to show' : null,
    side.executable ? 'executable' : null,
  ]
    .filter((part) => part !== null)
    .join(', ');
}

export const SIDES = ['base', 'head', 'draft'] as const;
export type SideName = (typeof SIDES)[number];

/** The lines of a place on each side; null where it has none there. */
export function linesOn(
  side: SideName,
  hunk: NonNullable<ApplyPreview['conflicts'][number]['hunks']>[number] | undefined,
  file: ConflictFile,
): { from: number; to: number } | null {
  if (!hunk) return file.kind === 'delete_modify' ? changedLines(file, side) : null;
  const from = { base: hunk.baseStart, head: hunk.headStart, draft: hunk.draftStart }[side];
  const count = hunk[side].length;
  return count === 0 ? null : { from, to: from + count - 1 };
}

/** Where one side deleted the file: what the other one changed. */
function changedLines(file: ConflictFile, side: SideName): { from: number; to: number } | null {
  const other = side === 'base' ? (file.head ?? file.draft) : file.base;
  const [now, was] = [file[side], other].map((one) =>
    one?.encoding === 'utf8' && one.content !== null ? one.content.split('\n') : null,
  );
  if (!now || !was) return null;
  const least = Math.min(now.length, was.length);
  let start = 0;
  while (start < least && now[start] === was[start]) start++;
  let end = 0;
  while (end < least - start && now.at(-1 - end) === was.at(-1 - end)) end++;
  return now.length - end > start ? { from: start + 1, to: now.length - end } : null;
}

export const isImage = (path: string): boolean => /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path);

const TYPES: Record<string, string> = { jpg: 'jpeg', ico: 'x-icon', svg: 'svg+xml' };

/** A picture as an address. The policy allows no scripts in it. */
export function imageOf(path: string, { content, encoding }: ConflictSide): string | null {
  if (content === null || !isImage(path)) return null;
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const type = `image/${TYPES[ending] ?? ending}`;
  return encoding === 'base64'
    ? `data:${type};base64,${content}`
    : `data:${type};charset=utf-8,${encodeURIComponent(content)}`;
}

export const hasText = (file: ConflictFile): boolean =>
  [file.base, file.head, file.draft].some((side) => side?.encoding === 'utf8' && side.content !== null);
