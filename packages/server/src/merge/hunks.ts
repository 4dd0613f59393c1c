import type { DiffAnswer } from './diff-answer.ts';
import { parseDiffAnswer } from './diff-answer.ts';
import { GitFailure } from './git-process.ts';
import type { Git } from './git.ts';
import { EMPTY_BLOB, writeTree } from './git-trees.ts';
import { storedFirst } from './stored-first.ts';
import type { Conflict, Hunk, Merge, ReadBlobs } from './types.ts';

/** What one side changed: base lines [from, to) became side lines [sideFrom, sideTo), counted from 0. */
interface Change {
  from: number;
  to: number;
  sideFrom: number;
  sideTo: number;
}

interface Contents {
  base: Buffer;
  head: Buffer;
  draft: Buffer;
}

const HUNK_LIMIT_MS = 3000;
/** Hunks are for people: past this much text or time, conflicts are named without them. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The conflicts with the regions that both sides changed, where both have text. */
export async function withHunks(
  merge: Merge,
  { git, readBlobs }: { git: Git; readBlobs: ReadBlobs },
): Promise<Conflict[]> {
  const wanted = merge.conflicts.flatMap((conflict) => {
    const stages =
      conflict.kind === 'content' || conflict.kind === 'add_add'
        ? conflict
        : conflict.kind === 'rename'
          ? merge.stages.get(conflict.path)
          : undefined;
    return stages?.head && stages.draft && stages.head !== stages.draft
      ? [{ path: conflict.path, base: stages.base ?? null, head: stages.head, draft: stages.draft }]
      : [];
  });
  if (wanted.length === 0) return merge.conflicts;
  const blobs = await storedFirst(
    git.store,
    readBlobs,
  )([...new Set(wanted.flatMap((w) => [w.base, w.head, w.draft]).flatMap((sha) => (sha ? [sha] : [])))]);
  const of = (sha: string | null): Buffer => (sha ? blobs.get(sha)! : Buffer.alloc(0));
  const contents = new Map<string, Contents>();
  let bytes = 0;
  for (const w of wanted) {
    const sides = { base: of(w.base), head: of(w.head), draft: of(w.draft) };
    bytes += sides.base.length + sides.head.length + sides.draft.length;
    if (bytes <= MAX_BYTES && Object.values(sides).every((side) => !side.subarray(0, 8000).includes(0)))
      contents.set(w.path, sides);
  }
  let head: Map<string, Change[]>;
  let draft: Map<string, Change[]>;
  try {
    [head, draft] = [await changes(git, contents, 'head'), await changes(git, contents, 'draft')];
  } catch (error) {
    if (error instanceof GitFailure && error.timedOut) return merge.conflicts;
    throw error;
  }
  return merge.conflicts.map((conflict) => {
    const sides = contents.get(conflict.path);
    if (!sides) return conflict;
    const hunks = overlaps(head.get(conflict.path) ?? [], draft.get(conflict.path) ?? [], sides);
    return hunks.length > 0 ? { ...conflict, hunks } : conflict;
  });
}

async function changes(
  git: Git,
  contents: Map<string, Contents>,
  side: 'head' | 'draft',
): Promise<Map<string, Change[]>> {
  if (contents.size === 0) return new Map();
  const tree = (which: keyof Contents): string =>
    writeTree(
      git.store,
      [...contents].map(([path, c]) => [
        path,
        { oid: c[which].length > 0 ? git.store.write('blob', c[which]) : EMPTY_BLOB, executable: false },
      ]),
      new Map(),
    );
  git.store.write('blob', Buffer.alloc(0));
  return new Map(
    parseDiffAnswer(await git.compareTree(tree('base'), tree(side), HUNK_LIMIT_MS)).map((answer) => [
      answer.path,
      changesOf(answer),
    ]),
  );
}

function changesOf({ patch }: DiffAnswer): Change[] {
  const found: Change[] = [];
  let [base, side] = [0, 0];
  let open: Change | undefined;
  let inHunk = false;
  for (const line of patch.toString('latin1').split('\n')) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (header) {
      inHunk = true;
      open = undefined;
      base = Number(header[1]) - (header[2] === '0' ? 0 : 1);
      side = Number(header[3]) - (header[4] === '0' ? 0 : 1);
    } else if (inHunk && (line.startsWith('-') || line.startsWith('+'))) {
      if (!open) found.push((open = { from: base, to: base, sideFrom: side, sideTo: side }));
      if (line.startsWith('-')) open.to = ++base;
      else open.sideTo = ++side;
    } else if (inHunk && line.startsWith(' ')) {
      open = undefined;
      base++;
      side++;
    }
  }
  return found;
}

/**
 * Groups of changes of both sides that touch or overlap in the base, as git merges them: a group of one
 * side alone merges by itself.
 */
function overlaps(
  head: Change[],
  draft: Change[],
  { base, head: headText, draft: draftText }: Contents,
): Hunk[] {
  const lines = { base: linesOf(base), head: linesOf(headText), draft: linesOf(draftText) };
  const all = [
    ...head.map((c) => ({ ...c, side: 'head' as const })),
    ...draft.map((c) => ({ ...c, side: 'draft' as const })),
  ].sort((a, b) => a.from - b.from || a.to - b.to);
  const hunks: Hunk[] = [];
  const shift = { head: 0, draft: 0 };
  for (let i = 0; i < all.length;) {
    const { from } = all[i]!;
    let { to } = all[i]!;
    const before = { ...shift };
    const sides = new Set<string>();
    for (; i < all.length && (all[i]!.from <= to || sides.size === 0); i++) {
      const change = all[i]!;
      to = Math.max(to, change.to);
      sides.add(change.side);
      shift[change.side] += change.sideTo - change.sideFrom - (change.to - change.from);
    }
    if (sides.size < 2) continue;
    const cut = (side: 'head' | 'draft'): string[] =>
      lines[side].slice(from + before[side], to + shift[side]);
    const [headLines, draftLines] = [cut('head'), cut('draft')];
    if (sameLines(headLines, draftLines)) continue;
    const hunk = {
      base: lines.base.slice(from, to).map(withoutEnd),
      head: headLines.map(withoutEnd),
      draft: draftLines.map(withoutEnd),
    };
    const start = (at: number, list: string[]): number => (list.length > 0 ? at + 1 : at);
    hunks.push({
      baseStart: start(from, hunk.base),
      headStart: start(from + before.head, hunk.head),
      draftStart: start(from + before.draft, hunk.draft),
      ...hunk,
    });
  }
  return hunks;
}

const sameLines = (a: string[], b: string[]): boolean =>
  a.length === b.length && a.every((line, i) => line === b[i]);

/** With their ends: whether the last line has one can be all that the sides differ in. */
const linesOf = (content: Buffer): string[] => content.toString('utf8').match(/[^\n]*\n|[^\n]+/g) ?? [];

const withoutEnd = (line: string): string => (line.endsWith('\n') ? line.slice(0, -1) : line);
