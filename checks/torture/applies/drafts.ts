/** What the drafts of an app change, so that for each of them one can say what becomes of it. */
import type { AppFile } from '../../harness/files.ts';
import { PLATFORM } from '../../harness/http.ts';

/**
 * own        a file that nobody else touches: always applied
 *   shared     a separate line of one file that all of these change: git merges it
 *   clash      manual mode; one line, file or new path that others want too: conflicted where one of them was before it
 *   collide    manual mode; a path that differs from another draft's in case alone: git sees nothing
 *   pinned     a conflict, with a resolution that holds for one head only: refused at any other, decided again until it is applied
 *   repair     agent mode; a conflict that the app's repair script resolves
 *   archived   as `own`, its thread being archived while the apply is queued: applied before that, or failed
 */
export type Kind = 'own' | 'shared' | 'clash' | 'collide' | 'pinned' | 'repair' | 'archived';

/** In this order again and again, so that a short run has some of each. */
const PATTERN: readonly Kind[] = [
  'own',
  'shared',
  'clash',
  'repair',
  'own',
  'shared',
  'collide',
  'pinned',
  'clash',
  'repair',
  'collide',
  'own',
  'archived',
  'shared',
  'own',
  'shared',
];

export interface Change {
  path: string;
  /** Null deletes. */
  content: string | null;
}

export interface Plan {
  /** Of the app, from 0. */
  number: number;
  kind: Kind;
  /** Revision of the head that the draft starts from. */
  base: number;
  changes: Change[];
}

export const SHARED = 'shared/lines.txt';
export const PINNED = 'pinned.txt';
export const isRepaired = (path: string) => path.startsWith('repair/');

const FILES = 50;
/** Unchanged lines between two drafts' lines: git merges changes that are three lines apart. */
const APART = 8;

/**
 * The lines of both sides, sorted: in a file that only ever gets lines this is the merge, wherever git sees
 * no conflict too. The pause lets applies behind it go first.
 */
export const REPAIR_SCRIPT = [
  'sleep 0.1',
  'for draft in .hoplite/repair/draft/repair/*; do',
  '  name=${draft##*/}',
  '  if [ -f ".hoplite/repair/head/repair/$name" ]; then sort -u ".hoplite/repair/head/repair/$name" "$draft" > "repair/$name"; fi',
  'done',
  'printf \'{"status": "resolved", "summary": "Kept the lines of both.", "checks": []}\' > .hoplite/repair/report.json',
].join('\n');

const sharedLines = (drafts: number) =>
  Array.from({ length: (drafts + 1) * APART }, (_, line) => `line ${line}`);
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;

/** About 50 files, with all that the drafts change in them. */
export function firstFiles(drafts: number): AppFile[] {
  const pairs = Array.from({ length: Math.ceil(drafts / PATTERN.length) }, (_, group) => group);
  return [
    { path: SHARED, content: text(sharedLines(drafts)) },
    { path: PINNED, content: 'of the base\n' },
    ...pairs.map((group) => ({ path: `repair/${group}.txt`, content: '0 of the base\n' })),
    ...pairs.map((group) => ({
      path: `clash/${group}.txt`,
      content: text(['first', 'second', 'third', `of group ${group}`]),
    })),
    ...Array.from({ length: Math.max(FILES, drafts) }, (_, n) => ({
      path: `src/part-${Math.floor(n / 10)}/file-${n}.txt`,
      content: text([`file ${n}`, 'as in the base']),
    })),
  ];
}

/** Revisions 2 and 3 of the head, made before anything is killed: drafts start from different bases. */
export const EARLY: readonly Change[][] = [
  [{ path: PINNED, content: 'of the second head\n' }],
  [{ path: 'early.txt', content: 'of the third head\n' }],
];

export function plansOf(drafts: number): Plan[] {
  const seen = new Map<Kind, number>();
  return Array.from({ length: drafts }, (_, number) => {
    const kind = PATTERN[number % PATTERN.length]!;
    const nth = seen.get(kind) ?? 0;
    seen.set(kind, nth + 1);
    // A pinned draft is in conflict from the start: its file changed after its base.
    return {
      number,
      kind,
      base: kind === 'pinned' ? 1 : 1 + (number % (EARLY.length + 1)),
      changes: [
        ...changesOf(kind, number, nth, drafts),
        { path: `drafts/${number}.txt`, content: `${kind} ${number}\n` },
      ],
    };
  });
}

function changesOf(kind: Kind, number: number, nth: number, drafts: number): Change[] {
  if (kind === 'own' || kind === 'archived')
    return [
      {
        path: `src/part-${Math.floor(number / 10)}/file-${number}.txt`,
        content: number % 5 === 4 ? null : `file ${number}, changed\n`,
      },
    ];
  if (kind === 'shared')
    return [
      {
        path: SHARED,
        content: text(
          sharedLines(drafts).map((line, i) => (i === (number + 1) * APART - 4 ? `line of ${number}` : line)),
        ),
      },
    ];
  if (kind === 'pinned') return [{ path: PINNED, content: `of ${number}\n` }];
  if (kind === 'repair')
    return [{ path: `repair/${Math.floor(nth / 2)}.txt`, content: `0 of the base\n1 of ${number}\n` }];
  if (kind === 'collide')
    return [{ path: `${nth % 2 ? 'CASE' : 'case'}/${Math.floor(nth / 2)}.txt`, content: `of ${number}\n` }];
  return [clash(number, nth)];
}

/** Pairs: both change a line, both add a path, or one changes what the other deletes. */
function clash(number: number, nth: number): Change {
  const group = Math.floor(nth / 2);
  if (group % 3 === 1) return { path: `clash/new-${group}.txt`, content: `of ${number}\n` };
  if (group % 3 === 2 && nth % 2) return { path: `clash/${group}.txt`, content: null };
  return {
    path: `clash/${group}.txt`,
    content: text([`first of ${number}`, 'second', 'third', `of group ${group}`]),
  };
}

/** What is sent of a draft's apply, apart from its sources. */
export const decisionOf = ({ kind }: Plan) =>
  kind === 'own' || kind === 'repair' ? {} : { conflictResolution: 'manual' };

export const threadPath = (thread: string) => `/api/threads/${thread.slice(thread.lastIndexOf('/') + 1)}`;
export const appId = (app: string) => app.slice(PLATFORM.length + '/apps/'.length);
